//! The product that a page offers: price, currency, brand and number, from structured data or as the page shows it.

use serde_json::Value;

use super::graph::{Graph, name};
use super::price::Price;
use super::title::decoded;
use super::{Head, collapse};
use crate::blocks::{Page, ancestor};
use crate::tree::{Kind, NodeId, Step, Tag, Tree};

/// What is known about a product.
#[derive(Clone, Debug, Default)]
pub(crate) struct Product {
    /// What it costs, the likeliest first.
    pub prices: Vec<Price>,
    /// Who makes it.
    pub brand: Option<String>,
    /// Its number in the shop.
    pub sku: Option<String>,
    /// How many products the structured data names.
    pub n_products: usize,
}

/// Further prices are those of variants.
const MAX_PRICES: usize = 8;

impl Product {
    /// Reads the first product of a JSON-LD script.
    pub(super) fn read_graph(&mut self, graph: &Graph<'_>) {
        for product in graph.of_types(&["Product", "IndividualProduct", "ProductModel", "Book", "Vehicle"]) {
            self.n_products += 1;
            if self.n_products > 1 && !self.prices.is_empty() {
                continue;
            }
            let text =
                |key: &str| product.get(key).and_then(|value| name(graph.resolve(value))).map(|text| decoded(&text));
            self.brand = self.brand.take().or_else(|| text("brand")).or_else(|| text("manufacturer"));
            let number = text("sku").or_else(|| text("productID")).or_else(|| text("mpn"));
            self.sku = self.sku.take().or(number);
            if let Some(offers) = product.get("offers") {
                self.read_offers(offers, 0);
            }
        }
    }

    fn read_offers(&mut self, offers: &Value, depth: usize) {
        match offers {
            Value::Array(items) => items.iter().take(MAX_PRICES).for_each(|item| self.read_offers(item, depth + 1)),
            Value::Object(offer) if depth < 4 => {
                let price = ["price", "lowPrice"].iter().find_map(|key| offer.get(*key).and_then(name));
                let currency = offer.get("priceCurrency").and_then(name);
                self.add_price(price.as_deref().and_then(Price::in_data), currency);
                for key in ["priceSpecification", "offers"] {
                    if let Some(inner) = offer.get(key) {
                        self.read_offers(inner, depth + 1);
                    }
                }
                self.sku = self.sku.take().or_else(|| offer.get("sku").and_then(name));
            }
            _ => {}
        }
    }

    fn add_price(&mut self, price: Option<Price>, currency: Option<String>) {
        let Some(mut price) = price.filter(|_| self.prices.len() < MAX_PRICES) else { return };
        let is_code = |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
        price.currency = currency.map(|code| code.trim().to_ascii_uppercase()).filter(is_code).or(price.currency);
        self.prices.push(price);
    }
}

/// Whether a page is about a product, beside what the classifier thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offers {
    /// The classifier takes the page for a product.
    Classified,
    /// Only structured data can say so.
    Declared,
}

impl Head {
    /// The product of a page, its prices in the order of how certain they are; nothing where the page offers none.
    pub(crate) fn product(&self, page: &Page<'_>, offers: Offers) -> Option<Product> {
        let says =
            |names: &[&str]| self.meta(names).is_some_and(|value| value.to_ascii_lowercase().contains("product"));
        let one = self.structured.product.n_products == 1 && !self.structured.product.prices.is_empty();
        let mut product = self.structured.product.clone();
        self.read_sale_price(&mut product);
        let n_marked = read_microdata(page, self, &mut product);
        let priced = self.meta(&["product:price:amount", "og:price:amount", "og:price"]).is_some();
        if offers == Offers::Declared && !one && !priced && !says(&["og:type"]) && !(1..=MAX_MARKED).contains(&n_marked)
        {
            return None;
        }
        self.read_metas(&mut product);
        let shown = shown_price(page, heading(page, &self.title));
        match shown.as_ref().and_then(|shown| product.prices.iter().position(|price| price.equals(shown))) {
            // Of several declared prices the one that readers see is the price.
            Some(index) => product.prices.swap(0, index),
            None if product.prices.is_empty() && offers == Offers::Classified => product.prices.extend(shown),
            None => {}
        }
        Some(product)
    }

    fn currency(&self) -> Option<String> {
        self.meta(&["product:price:currency", "og:price:currency", "pricecurrency"]).map(str::to_owned)
    }

    fn read_sale_price(&self, product: &mut Product) {
        if let Some(price) = self.meta(&["product:sale_price:amount"]).and_then(Price::in_data) {
            product.prices.insert(0, Price { currency: self.currency(), ..price });
        }
    }

    fn read_metas(&self, product: &mut Product) {
        for name in ["product:price:amount", "og:price:amount", "price", "og:price"] {
            product.add_price(self.meta(&[name]).and_then(Price::in_data), self.currency());
        }
        let text = |names: &[&str]| self.meta(names).map(decoded).filter(|text| text.len() <= 120);
        product.brand = product.brand.take().or_else(|| text(&["product:brand", "og:brand", "brand"]));
        product.sku = product.sku.take().or_else(|| {
            text(&["sku", "product:retailer_item_id", "product:sku", "product:retailer_part_no", "productid"])
        });
    }
}

/// More prices in microdata are those of a list of products.
const MAX_MARKED: usize = 3;

/// Reads `itemprop` of elements and gives the number of prices; those of `<meta>` are read with the head.
fn read_microdata(page: &Page<'_>, head: &Head, product: &mut Product) -> usize {
    let mut n_marked = head.metas.iter().filter(|(name, _)| name == "price").count();
    const MAX_ELEMENTS: usize = 20_000;
    let tree = &page.tree;
    let currency = head.currency();
    for element in page.elements.iter().take(MAX_ELEMENTS) {
        let [Some(property)] = tree.find_raw(element.node, ["itemprop"]) else { continue };
        let value = || value_of(tree, element.node);
        match property.trim().to_ascii_lowercase().as_str() {
            "price" | "lowprice" => {
                n_marked += 1;
                product.add_price(value().as_deref().and_then(Price::in_data), currency.clone());
            }
            "brand" if product.brand.is_none() => product.brand = value(),
            "sku" if product.sku.is_none() => product.sku = value(),
            _ => {}
        }
    }
    n_marked
}

/// The value of a property: its `content`, else its short text.
fn value_of(tree: &Tree<'_>, node: NodeId) -> Option<String> {
    const MAX_NODES: usize = 40;
    let content = tree.attribute(node, "content").map(|content| collapse(&content));
    let text = || (tree.end(node).index() - node.index() <= MAX_NODES).then(|| collapse(&tree.text_content(node)));
    let named = tree.subtree(node).take(MAX_NODES).find(|inner| {
        tree.tag(*inner) == Tag::Meta && tree.attribute(*inner, "itemprop").is_some_and(|name| name == "name")
    });
    let named = named.and_then(|inner| tree.attribute(inner, "content")).map(|name| collapse(&name));
    content.or(named).or_else(text).filter(|value| !value.is_empty() && value.len() <= 120)
}

/// How many blocks after the heading of a product the one with its price may stand.
const N_BLOCKS: usize = 80;

/// The first main heading that begins as the title of the window does or that this one holds, else the first one.
fn heading(page: &Page<'_>, title: &str) -> usize {
    let is_named = |text: &str| {
        let beginning: String = text.chars().take(24).collect();
        beginning.chars().count() >= 4 && title.contains(&beginning)
    };
    let mut headings = page.blocks.iter().enumerate().filter(|(_, block)| block.heading == 1);
    let named = headings.clone().find(|(_, block)| is_named(page.block_text(block)));
    named.or_else(|| headings.next()).map_or(0, |(index, _)| index)
}

/// How many nodes after the heading of a product its price is looked for, and before it.
const N_NODES: (usize, usize) = (4_000, 200);

/// The price that the page shows near its heading, in an element that is named after it.
fn shown_price(page: &Page<'_>, heading: usize) -> Option<Price> {
    let tree = &page.tree;
    let start = page.blocks.get(heading).map_or(0, |block| page.elements[block.element as usize].node.index());
    let near = start.saturating_sub(N_NODES.1)..start + N_NODES.0;
    let elements = page.elements.iter().filter(|element| near.contains(&element.node.index()));
    let mut named = elements.filter(|element| names_of(tree, element.node) == Names::Price);
    named.find_map(|element| {
        let price = Price::shown_in(&standing_text(tree, element.node)?)?;
        let is_hidden = tree.hidden(element.node) || tree.ancestors(element.node).any(|node| tree.hidden(node));
        (!is_hidden).then_some(price)
    })
}

/// What the names of an element say about a price in it.
#[derive(PartialEq, Eq)]
enum Names {
    Price,
    /// An old price, a saving, the cost of delivery.
    OtherAmount,
    Nothing,
}

fn names_of(tree: &Tree<'_>, node: NodeId) -> Names {
    const OTHERS: [&str; 13] = [
        "old",
        "was",
        "original",
        "list-price",
        "strike",
        "save",
        "saving",
        "shipping",
        "regular",
        "recommend",
        "coupon",
        "total",
        "compare",
    ];
    let [class, id] = tree.find_raw(node, ["class", "id"]);
    let mut found = Names::Nothing;
    for names in [class, id].into_iter().flatten() {
        let names = names.to_ascii_lowercase();
        if names.contains("price") || names.contains("amount") {
            found = Names::Price;
        }
        if found == Names::Price && OTHERS.iter().any(|other| names.contains(other)) {
            return Names::OtherAmount;
        }
    }
    found
}

/// The text of a small element without what is struck through or named as another amount.
fn standing_text(tree: &Tree<'_>, node: NodeId) -> Option<String> {
    const MAX_NODES: usize = 60;
    if tree.end(node).index() - node.index() > MAX_NODES {
        return None;
    }
    let mut text = String::new();
    let mut walk = tree.walk_from(node);
    while let Some(step) = walk.next() {
        match step {
            Step::Open(inner) => {
                let struck =
                    matches!(tree.tag(inner), Tag::S | Tag::Del | Tag::Strike) || tree.tag(inner).is_not_rendered();
                if struck || (inner != node && (tree.hidden(inner) || names_of(tree, inner) == Names::OtherAmount)) {
                    walk.skip_children();
                }
            }
            Step::Leaf(leaf) if tree.kind(leaf) == Kind::Text => {
                text.push_str(&tree.text(leaf));
                text.push(' ');
            }
            _ => {}
        }
    }
    Some(collapse(&text))
}

/// The blocks that show the price of a product near its heading, for texts that would otherwise lack it.
pub(crate) fn product_blocks(page: &Page<'_>, head: &Head, product: &Product) -> Vec<usize> {
    let Some(price) = product.prices.first() else { return Vec::new() };
    let heading = heading(page, &head.title);
    let near = heading.saturating_sub(10)..page.blocks.len().min(heading + N_BLOCKS);
    let shows = |index: &usize| {
        let block = &page.blocks[*index];
        block.digits > 0
            && block.characters <= 60
            && block.ancestors & (ancestor::HIDDEN | ancestor::NAV | ancestor::FOOTER) == 0
            && Price::shown_in(page.block_text(block)).is_some_and(|shown| shown.equals(price))
    };
    near.filter(shows).take(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Price, currency, brand and number.
    type Fields<'f> = (&'f str, Option<&'f str>, Option<&'f str>, Option<&'f str>);

    #[track_caller]
    fn check(html: &str, offers: Offers, expected: Option<Fields<'_>>) {
        let tree = Tree::parse(html);
        let head = Head::read(&tree);
        let page = Page::read(tree);
        let product = head.product(&page, offers);
        let found = product.as_ref().map(|product| {
            let price = product.prices.first();
            let amount = price.map_or("", |price| price.amount.as_str());
            let currency = price.and_then(|price| price.currency.as_deref());
            (amount, currency, product.brand.as_deref(), product.sku.as_deref())
        });
        assert_eq!(found, expected, "{html}");
    }

    #[test]
    fn structured_data_names_price_brand_and_number() {
        let ld = r##"<script type=application/ld+json>{"@graph":[{"@type":"Product","sku":"A-1","brand":{"@id":"#b"},
            "offers":[{"price":13.4,"priceCurrency":"eur","sku":"A-1-S"}]},{"@id":"#b","name":"Viking"}]}</script>"##;
        let expected = Some(("13.4", Some("EUR"), Some("Viking"), Some("A-1")));
        check(ld, Offers::Declared, expected);
        let microdata = "<meta itemprop=priceCurrency content=EUR><h1>Lamp</h1><b itemprop=sku>A-1</b>\
            <i itemprop=brand>Viking</i><span itemprop=price content=13.4>13,40 €</span>";
        check(microdata, Offers::Classified, expected);
        check(microdata, Offers::Declared, expected);
        check(&microdata.repeat(4), Offers::Declared, None);
    }

    #[test]
    fn the_price_that_readers_see_is_the_price() {
        let ld = r#"<script type=application/ld+json>{"@type":"Product","offers":{"price":150}}</script>"#;
        let html = format!("{ld}<meta property=product:price:amount content=200><h1>Bag</h1><p class=price>$200</p>");
        check(&html, Offers::Declared, Some(("200", None, None, None)));
        for shown in [
            "<p class=old-price>€ 20</p><p class=price>€ 13,40</p>",
            "<p class=price><s>€ 20</s> <b>€ 13,40</b></p>",
            "<p class=price><span class=price-was>€ 20</span> € 13,40</p>",
            "<p class=price hidden>€ 20</p><td>Price: <span id=our_price>€ 13,40</span> with tax</td>",
        ] {
            let html = format!("<h1>Lamp</h1>{shown}");
            check(&html, Offers::Classified, Some(("13.40", Some("EUR"), None, None)));
        }
    }

    #[test]
    fn the_block_with_the_price_is_found() {
        let tree = Tree::parse("<title>Lamp</title><p>Menu<h1>Lamp</h1><p>€ 20,00<p>Now 13,40 €<p>text");
        let head = Head::read(&tree);
        let page = Page::read(tree);
        let product = Product { prices: Price::in_data("13.4").into_iter().collect(), ..Product::default() };
        assert_eq!(product_blocks(&page, &head, &product), [3]);
    }
}
