//! Lexicons of words that tell the theme of a text and the role of an element by its class names.
//!
//! Words are looked up by hash; in scripts without spaces two neighbouring characters make a word.

use std::sync::LazyLock;

/// The theme of a word of the text. Words are counted per block in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Theme {
    /// Stop words.
    StopWord,
    /// Share buttons and social networks.
    Share,
    /// Comments and answers.
    Comment,
    /// Related and recommended pages.
    Related,
    /// Accounts, newsletters, subscriptions.
    Account,
    /// Rights, privacy, cookies.
    Legal,
    /// Buying.
    Shop,
    /// Navigation of the site.
    Navigation,
    /// Who wrote it and when.
    Byline,
    /// Months, weekdays, "ago".
    Date,
    /// Advertising.
    Advert,
    /// Customer reviews.
    Review,
    /// The first person: frequent in reviews, comments and posts, rare in descriptions.
    FirstPerson,
}

/// How many themes there are.
pub const N_THEMES: usize = 13;

/// The themes that are more frequent in boilerplate than in content: all but stop words and the first person.
pub const BOILERPLATE_THEMES: std::ops::Range<usize> = 1..N_THEMES - 1;

const WORDS: &[(Theme, &str)] = &[
    (Theme::StopWord, STOP_WORDS),
    (
        Theme::Share,
        "share shares sharing facebook twitter tweet linkedin pinterest whatsapp telegram reddit instagram youtube \
         tiktok email print follow followers like likes teilen drucken folgen compartilhar compartilhe curtir imprimir \
         compartir imprimir seguir partager imprimer condividi stampa udostępnij dela поделиться rss flipboard tumblr \
         digg stumbleupon delicious 分享 微博 微信 收藏 关注 關注 打印 转发 轉發 点赞 點讚 朋友 列印 扫码 扫一",
    ),
    (
        Theme::Comment,
        "comment comments commented reply replies replied respond response responses discussion discuss thread \
         trackback trackbacks pingback kommentar kommentare antworten comentário comentários comentar responder resposta \
         respostas comentarios comentario respuesta respuestas commentaire commentaires répondre commenti commento \
         rispondi komentarze комментарии ответить upvote votes 评论 評論 回复 回覆 留言 跟帖 网友 網友 发表 發表 楼主 樓主",
    ),
    (
        Theme::Related,
        "related recommended recommend recommends popular trending latest also similar featured more suggested \
         recent archive archives headlines stories mehr ähnliche verwandte weitere beliebt meistgelesen neueste auch \
         relacionado relacionados relacionadas leia mais veja também recomendados últimas notícias populares lidas lea \
         más también recomendado últimos similaires lire aussi plus articles populaires correlati leggi anche altri \
         polecane powiązane другие похожие 相关 相關 推荐 推薦 热门 熱門 更多 最新 排行 延伸 猜你 精彩 热点 熱點 往期",
    ),
    (
        Theme::Account,
        "login log sign signup signin register registered subscribe subscription subscriber newsletter account password \
         username join member members free unlimited anmelden registrieren abonnieren konto passwort entrar cadastre \
         cadastro assine assinar assinante senha conta iniciar sesión registrarse suscríbete suscribirse cuenta \
         connexion inscrire abonner abonnez compte mot accedi registrati iscriviti zaloguj 登录 登錄 登入 注册 註冊 订阅 \
         訂閱 会员 會員 密码 密碼 账号 帳號 用户 用戶",
    ),
    (
        Theme::Legal,
        "copyright rights reserved privacy policy terms conditions cookie cookies disclaimer trademark trademarks consent \
         gdpr legal licensed impressum datenschutz agb haftungsausschluss rechte vorbehalten direitos reservados \
         privacidade termos política derechos privacidad términos aviso droits réservés confidentialité mentions légales \
         diritti riservati prawa zastrzeżone 版权 版權 隐私 隱私 声明 聲明 条款 條款 备案 備案 免责 免責 许可 所有",
    ),
    (
        Theme::Shop,
        "buy cart price prices add checkout shipping delivery sale stock quantity wishlist order discount save usd eur \
         warenkorb kaufen preis lieferung versand comprar carrinho preço frete entrega \
         parcelas carrito precio envío acheter panier prix livraison acquista carrello prezzo spedizione koszyk 购买 購買 \
         价格 價格 购物 購物 加入 运费 運費 库存 庫存 优惠 優惠",
    ),
    (
        Theme::Navigation,
        "home menu search skip next previous prev back top page pages main site sitemap map contact about help faq \
         categories category tags sections browse toggle close open view startseite suche menü kontakt seite zurück \
         weiter nächste início busca buscar pesquisar pesquisa contato ajuda sobre próximo anterior voltar inicio contacto \
         ayuda siguiente accueil recherche rechercher suivant précédent aide cerca successivo precedente indietro 首页 首頁 \
         导航 導航 搜索 搜尋 上一 下一 返回 联系 聯繫 帮助 幫助 关于 關於 目录 目錄 网站 網站 栏目",
    ),
    (
        Theme::Byline,
        "by author posted published updated written edited editor photo photograph image credit source reporter staff \
         read min minute minutes views von autor veröffentlicht aktualisiert bild foto quelle redaktion por publicado \
         atualizado fonte crédito imagem escrito actualizado fuente imagen par publié mis crédit auteur di pubblicato \
         aggiornato fonte autore 作者 来源 來源 编辑 編輯 记者 記者 责任 責任 发布 發布 时间 時間 阅读 閱讀 字号 浏览 瀏覽 图片",
    ),
    (
        Theme::Date,
        "january february march april may june july august september october november december jan feb mar apr jun jul \
         aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun ago \
         today yesterday hours hour days day weeks months years januar februar märz mai juni juli oktober dezember uhr \
         janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro enero febrero marzo mayo \
         junio septiembre octubre noviembre diciembre janvier février mars avril juin juillet août septembre octobre \
         décembre am pm gmt est 小时 小時 分钟 分鐘 昨天 今天 星期",
    ),
    (
        Theme::Advert,
        "advertisement advertisements ad ads sponsored sponsor promoted promotion advertise advertising anzeige werbung \
         publicidade anúncio publicidad anuncio publicité pubblicità reklama реклама 广告 廣告 赞助 贊助",
    ),
    (
        Theme::Review,
        "review reviews reviewed reviewer reviewers rating ratings rated star stars verified purchase purchased helpful \
         testimonial testimonials bewertung bewertungen rezensionen sterne avaliação avaliações estrelas opiniones \
         valoraciones estrellas avis étoiles recensioni stelle opinie 评价 評價 好评 好評 买家 買家 评分 評分",
    ),
    (
        Theme::FirstPerson,
        "i im ive id me my mine myself ich mich mir mein meine eu meu minha mim yo mi mis je moi mon ma mes io mio mia \
         ja mnie mój я мне мой 我的 我们 我們 俺 僕 私",
    ),
];

const STOP_WORDS: &str = "the a an of to and in that it is was for on with as at be this have from or had but not they he \
    she we you i his her their its are were been has will would there what which who when if so can could do did no than \
    then them these those my your our me him us just over after before about up out all one into some only other how because \
    der die das und ist in den von zu mit sich des auf für nicht ein eine als auch es an werden aus er hat dass sie nach wird \
    bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde wenn \
    o os as um uma de do da dos das em no na nos nas que e é para com não por mais se foi ao como mas ele ela seu sua ou ser \
    quando muito há já está eu também só pelo pela até isso entre era depois sem mesmo aos ter seus quem me esse eles \
    el la los las un una del y en que es se no con su al lo como más pero sus le ya este sí porque esta son cuando muy sobre \
    también hasta hay donde desde todo nos durante todos uno les ni contra otros fue ese eso había ante ellos esto antes \
    le les une du et à est dans qui pas sur plus au par je avec tout faire son sa il elle nous vous ils mais ou ce cette ces \
    aux être ont leur sans même fait était comme si on été deux ne peut \
    il lo gli che di per non una sono è con del della nel alla dei anche più ha come ma dalla delle questo si era ed \
    het een en van dat niet zijn op aan te met voor er maar om hem dan zou wat mijn dit zo door w i na z się że do nie jest \
    o jak ale po co tak za od przez był tym och att som på är av för den till med ett om inte har jag det men i \
    и в не на я что он с как это по но они к у вы за мы так от же из о для бы \
    的 了 是 在 不 我 有 他 这 這 个 個 们 們 也 就 说 說 和 与 與 到 你 要 会 會 那 着 著 被 但 而 之 对 對 从 從 将 將 \
    の は を に が と で も た し て";

/// The role of an element, by a token of its class, id or itemprop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The text of the page.
    Content,
    /// An article, post or story.
    Article,
    /// A title.
    Title,
    /// Comments.
    Comment,
    /// Posts of a forum.
    Forum,
    /// A column next to the content.
    Sidebar,
    /// Menus.
    Navigation,
    /// The top of the page.
    Header,
    /// The bottom of the page.
    Footer,
    /// Related and recommended pages.
    Related,
    /// Share buttons.
    Share,
    /// Advertising.
    Advert,
    /// Who wrote it and when.
    Byline,
    /// A product.
    Product,
    /// A card or item of a list.
    Card,
    /// Dialogs, overlays and cookie notices.
    Popup,
    /// Pictures and their captions.
    Caption,
    /// Tags and categories.
    Tags,
    /// Forms and searches.
    Form,
    /// Not shown.
    Hidden,
    /// Accounts, newsletters.
    Account,
    /// Tables of contents, toolbars.
    Tool,
    /// Customer reviews.
    Review,
    /// A signature below posts.
    Signature,
}

/// How many roles there are.
pub const N_ROLES: usize = 24;

/// The roles that an element around all of a page's content may have.
pub(crate) const ROLES_OF_CONTENT: u32 = 1 << Role::Content as u32
    | 1 << Role::Article as u32
    | 1 << Role::Forum as u32
    | 1 << Role::Product as u32
    | 1 << Role::Card as u32;

const ROLES: &[(Role, &str)] = &[
    (
        Role::Content,
        "content contents body text main maincontent maintext prose richtext wysiwyg markdown copy page primary \
        conteudo contenido inhalt contenu texto description summary bodytext",
    ),
    (
        Role::Article,
        "article articles articlebody post posts postbody entry story storybody blog news hentry noticia materia \
        artikel articolo chapter paragraph lead intro section",
    ),
    (Role::Title, "title headline heading subtitle hed titulo titre ueberschrift headings name deck dek"),
    (
        Role::Comment,
        "comment comments commentlist disqus respond discussion kommentare comentarios commentaires pingback \
        trackback reply replies feedback livefyre",
    ),
    (
        Role::Forum,
        "forum thread topic message messages postcontent question answer answers answercell poster signature usertext \
        bbs floor quote threads",
    ),
    (
        Role::Sidebar,
        "sidebar side aside rail rightcol leftcol right left column widget widgets secondary module barra lateral \
        complementary extra",
    ),
    (
        Role::Navigation,
        "nav navigation navbar menu menus submenu breadcrumb breadcrumbs crumbs pager pagination paging pages \
        tabs tab toc skip menubar dropdown sitemap navi",
    ),
    (Role::Header, "header head masthead topbar top banner logo branding cabecalho kopf hero"),
    (Role::Footer, "footer foot bottom copyright legal colophon rodape fuss credits disclaimer privacy contentinfo"),
    (
        Role::Related,
        "related recommend recommended recommendation recommendations popular trending latest recent similar more \
        mostread readmore also suggestions taboola outbrain teaser teasers promo upsell crosssell carousel slider hot",
    ),
    (
        Role::Share,
        "share sharing social socials facebook twitter sharedaddy addthis addtoany follow like likes rating vote votes \
        bookmark print email tools",
    ),
    (
        Role::Advert,
        "ad ads advert advertisement adsense sponsor sponsored promotion banner dfp adslot commercial publicidade \
        publicidad werbung affiliate",
    ),
    (
        Role::Byline,
        "byline author authors meta metadata date time datetime timestamp published pubdate postmeta info dateline \
        source vcard autor data details bio avatar user username profile",
    ),
    (
        Role::Product,
        "product products price prices cart buy shop sku stock variant specs specification specifications offer \
        checkout basket quantity shipping",
    ),
    (
        Role::Card,
        "card cards item items tile tiles grid list listing row result results feed collection archive loop \
        gallery thumb thumbnail cell",
    ),
    (
        Role::Popup,
        "modal popup overlay cookie cookies consent gdpr dialog lightbox toast alert notice notification tooltip \
        paywall gate",
    ),
    (
        Role::Caption,
        "caption figcaption image images img photo picture figure media video embed gallery credit slideshow player",
    ),
    (Role::Tags, "tag tags category categories cat keywords label labels topics badge cats filed"),
    (Role::Form, "form search input field filter filters sort facets select button buttons btn cta searchform"),
    (Role::Hidden, "hidden hide invisible sr screen offscreen visuallyhidden collapse collapsed print noprint mobile"),
    (
        Role::Account,
        "login signin signup register subscribe subscription newsletter account member registration optin mailchimp",
    ),
    (
        Role::Tool,
        "toolbar action actions control controls options settings toggle icon icons status stats count counter",
    ),
    (
        Role::Review,
        "review reviews reviewer rating ratings testimonial testimonials stars ugc bazaarvoice yotpo qanda opinion \
        avaliacoes bewertungen",
    ),
    (Role::Signature, "signature signatures postsignature usersignature membersignature sigblock"),
];

/// A map from 32-bit hashes to bits, open addressing, a power of two in size.
///
/// Hashes and bits are in separate vectors: every word of a page is looked up, and a miss, which is most frequent,
/// touches only the filter and the hashes.
#[derive(Debug)]
pub struct HashBits {
    /// 0 where there is none.
    hashes: Vec<u32>,
    bits: Vec<u32>,
    /// A filter with one bit per hash, which rejects most misses.
    filter: [u64; 256],
}

impl HashBits {
    pub(super) fn new(entries: impl Iterator<Item = (u32, u32)>) -> Self {
        let entries: Vec<_> = entries.collect();
        let n_slots = (entries.len() * 2).next_power_of_two();
        let mut table = HashBits { hashes: vec![0; n_slots], bits: vec![0; n_slots], filter: [0; 256] };
        for (hash, bits) in entries {
            let slot = table.slot(hash);
            table.hashes[slot] = hash;
            table.bits[slot] |= bits;
            let (word, bit) = HashBits::filter_bit(hash);
            table.filter[word] |= bit;
        }
        table
    }

    #[inline]
    fn slot(&self, hash: u32) -> usize {
        let mask = self.hashes.len() - 1;
        let mut slot = spread(hash) & mask;
        while self.hashes[slot] != hash && self.hashes[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[inline]
    fn filter_bit(hash: u32) -> (usize, u64) {
        ((hash >> 24) as usize, 1 << ((hash >> 18) & 63))
    }

    /// Whether the filter admits a hash: `false` is certain, `true` is not.
    #[inline]
    pub fn may_hold(&self, hash: u32) -> bool {
        let (word, bit) = HashBits::filter_bit(hash);
        self.filter[word] & bit != 0
    }

    /// The bits of a hash; none when it is not there.
    #[inline]
    pub fn get(&self, hash: u32) -> u32 {
        let slot = self.slot(hash);
        if self.hashes[slot] == hash { self.bits[slot] } else { 0 }
    }
}

#[inline]
fn spread(hash: u32) -> usize {
    (hash.wrapping_mul(0x9E37_79B1) >> 12) as usize
}

/// Where every hash starts (FNV-1a).
pub const SEED: u32 = 0x811C_9DC5;

/// One more byte of a word.
#[inline]
pub const fn mix(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// The hash of a word in lower letters; never 0, which marks an empty slot.
pub const fn hash(word: &str) -> u32 {
    let (mut hash, mut at) = (SEED, 0);
    while at < word.len() {
        hash = mix(hash, word.as_bytes()[at]);
        at += 1;
    }
    if hash == 0 { 1 } else { hash }
}

/// The themes of words, one bit each.
pub static THEMES: LazyLock<HashBits> = LazyLock::new(|| {
    HashBits::new(
        WORDS.iter().flat_map(|(theme, words)| words.split_whitespace().map(|word| (hash(word), 1 << (*theme as u32)))),
    )
});

/// The words that give an element a role which speaks against content.
pub fn suppressing_names() -> impl Iterator<Item = &'static str> {
    let suppressing = ROLES.iter().filter(|(role, _)| ROLES_OF_CONTENT & (1 << *role as u32) == 0);
    suppressing.flat_map(|(_, words)| words.split_whitespace())
}

/// The roles of class names, one bit each.
pub static NAME_ROLES: LazyLock<HashBits> = LazyLock::new(|| {
    HashBits::new(
        ROLES.iter().flat_map(|(role, words)| words.split_whitespace().map(|word| (hash(word), 1 << (*role as u32)))),
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_themes() {
        assert_eq!(THEMES.get(hash("share")), 1 << Theme::Share as u32);
        assert_eq!(THEMES.get(hash("评论")), 1 << Theme::Comment as u32);
        assert_eq!(THEMES.get(hash("zebra")), 0);
        assert_ne!(NAME_ROLES.get(hash("sidebar")) & (1 << Role::Sidebar as u32), 0);
        assert_eq!(N_THEMES, Theme::FirstPerson as usize + 1);
        assert_eq!(N_ROLES, Role::Signature as usize + 1);
    }
}
