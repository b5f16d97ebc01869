//! Which hosts and pages exist, and what links to what. Everything is computed from the seed; nothing is stored.

use std::collections::HashMap;

use crate::config::{Addresses, PageStyle, Robots, WebConfig};
use crate::prose::{self, Block, Content, Language, PageType};
use crate::random::{Random, hash, share};

/// Pages below `/private/` on each host, where robots.txt forbids them.
pub(crate) const PRIVATE_PAGES: usize = 3;

/// How a host encodes its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// UTF-8, like most of the web.
    Utf8,
    /// Big5, for traditional Chinese.
    Big5,
    /// GB18030, for simplified Chinese.
    Gb18030,
    /// windows-1252, for Portuguese.
    Windows1252,
}

impl Charset {
    /// The label that pages declare.
    pub fn label(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Big5 => "big5",
            Charset::Gb18030 => "gb18030",
            Charset::Windows1252 => "windows-1252",
        }
    }
}

/// What a host is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Ordinary,
    Calendar,
    Session,
    Path,
    Query,
    Soft404,
    Mirror,
    Slow,
    Bomb,
    Endless,
    Busy,
    Dying,
    Gibberish,
    Farm,
    Spam,
}

impl Role {
    pub fn trap(self) -> Option<&'static str> {
        Some(match self {
            Role::Ordinary => return None,
            Role::Calendar => "calendar",
            Role::Session => "session",
            Role::Path => "path",
            Role::Query => "query",
            Role::Soft404 => "soft404",
            Role::Mirror => "mirror",
            Role::Slow => "slow",
            Role::Bomb => "bomb",
            Role::Endless => "endless",
            Role::Busy => "busy",
            Role::Dying => "dying",
            Role::Gibberish => "gibberish",
            Role::Farm => "farm",
            Role::Spam => "spam",
        })
    }
}

/// One host.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// As it stands in URLs: a name, or an address with its port.
    pub authority: String,
    pub role: Role,
    pub language: Language,
    pub charset: Charset,
    /// The kind of page that this host mostly has.
    pub main: PageType,
}

/// What one page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub page_type: PageType,
    /// The page whose content this one repeats, and whether to the letter.
    pub copy_of: Option<(usize, Copy)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copy {
    Exact,
    Near,
}

/// A link as it stands on a page.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub href: String,
    pub text: String,
}

/// The whole web.
pub(crate) struct Site {
    pub config: WebConfig,
    pub hosts: Vec<Host>,
    by_authority: HashMap<String, usize>,
}

impl Site {
    /// Lays out the hosts; `ports` are those that were bound, one for all hosts or one for each.
    pub fn new(config: WebConfig, ports: &[u16]) -> Self {
        let mut roles = vec![Role::Ordinary; config.hosts];
        let traps = config.traps;
        let switches = [
            (traps.calendar, Role::Calendar),
            (traps.session_ids, Role::Session),
            (traps.endless_paths, Role::Path),
            (traps.endless_queries, Role::Query),
            (traps.soft_404, Role::Soft404),
            (traps.mirror, Role::Mirror),
            (traps.slow_loris, Role::Slow),
            (traps.gzip_bomb, Role::Bomb),
            (traps.endless_body, Role::Endless),
            (traps.too_many_requests, Role::Busy),
            (traps.dying, Role::Dying),
            (traps.gibberish, Role::Gibberish),
        ];
        roles.extend(switches.into_iter().filter(|(on, _)| *on).map(|(_, role)| role));
        roles.extend(std::iter::repeat_n(Role::Farm, traps.farm_hosts));
        roles.extend(std::iter::repeat_n(Role::Spam, traps.spam_hosts));
        let port = |index: usize| ports.get(index).copied().unwrap_or(ports[0]);
        let hosts: Vec<Host> =
            roles.into_iter().enumerate().map(|(index, role)| Self::host(&config, index, role, port(index))).collect();
        let mut by_authority = HashMap::new();
        for (index, host) in hosts.iter().enumerate() {
            by_authority.insert(host.authority.clone(), index);
            // Where hosts do not differ by it, the port says nothing: some clients always send it, wget2 1.99 never.
            if config.addresses != Addresses::Ports {
                by_authority.insert(without_port(&host.authority).to_owned(), index);
            }
        }
        Site { config, hosts, by_authority }
    }

    fn host(config: &WebConfig, index: usize, role: Role, port: u16) -> Host {
        const KINDS: [PageType; 5] =
            [PageType::Article, PageType::Forum, PageType::Product, PageType::Documentation, PageType::Article];
        // A mirror is a copy of the first host in everything but its name.
        let like = if role == Role::Mirror { 0 } else { index };
        let language = match role {
            Role::Ordinary | Role::Mirror if config.pages == PageStyle::Realistic => Language::ALL[like % 4],
            _ => Language::English,
        };
        let charset = match (role, config.pages, like) {
            (Role::Ordinary, PageStyle::Realistic, 5) => Charset::Windows1252,
            (Role::Ordinary, PageStyle::Realistic, 6) => Charset::Big5,
            (Role::Ordinary, PageStyle::Realistic, 7) => Charset::Gb18030,
            _ => Charset::Utf8,
        };
        let main = KINDS[(like / 4) % KINDS.len()];
        let authority = match config.addresses {
            Addresses::Loopback => format!("{}:{port}", loopback(index)),
            Addresses::Ports => format!("{}:{port}", loopback(0)),
            Addresses::Names => match role {
                Role::Ordinary => format!("{}-{index}.test", site_word(main)),
                Role::Spam => {
                    let first = config.hosts + config.traps.count() - config.traps.spam_hosts;
                    format!("spam-{}.test", index - first)
                }
                Role::Farm => {
                    let last = config.hosts + config.traps.count() - config.traps.spam_hosts;
                    format!("farm-{}.test", index + config.traps.farm_hosts - last)
                }
                role => format!("{}-trap.test", role.trap().expect("every other role is a trap")),
            },
        };
        Host { authority, role, language, charset, main }
    }

    pub fn find_host(&self, authority: &str) -> Option<usize> {
        if let Some(index) = self.by_authority.get(authority) {
            return Some(*index);
        }
        self.by_authority.get(without_port(authority).to_ascii_lowercase().as_str()).copied()
    }

    /// Pages that links reach on a host.
    pub fn n_linked(&self, host: usize) -> usize {
        match self.hosts[host].role {
            Role::Slow | Role::Bomb | Role::Endless | Role::Calendar | Role::Path | Role::Query => 1,
            Role::Gibberish | Role::Farm => 1,
            _ => self.config.pages_per_host.max(1),
        }
    }

    /// Pages on a host, with those that only its sitemap knows.
    pub fn n_pages(&self, host: usize) -> usize {
        let linked = self.n_linked(host);
        let orphans = self.config.sitemaps && self.hosts[host].role == Role::Ordinary;
        if orphans { linked + linked / 5 } else { linked }
    }

    /// Pages without children in the tree that makes every page reachable: losing one loses no other.
    pub fn is_leaf(&self, host: usize, number: usize) -> bool {
        3 * number + 1 >= self.n_linked(host)
    }

    /// The host and number that give a page its content: a mirror shows the first host's.
    pub fn source(&self, host: usize, number: usize) -> (usize, usize) {
        if self.hosts[host].role == Role::Mirror { (0, number) } else { (host, number) }
    }

    pub fn plan(&self, host: usize, number: usize) -> Plan {
        let (host, number) = self.source(host, number);
        let main = self.hosts[host].main;
        let is_listing = |number: usize| {
            main != PageType::Documentation && (number == 0 || number % 8 == 7) && self.hosts[host].role != Role::Spam
        };
        if is_listing(number) {
            return Plan { page_type: PageType::Listing, copy_of: None };
        }
        let random = share(&[self.config.seed, host as u64, number as u64, 11]);
        let kind = if random < self.config.exact_duplicates {
            Some(Copy::Exact)
        } else if random < self.config.exact_duplicates + self.config.near_duplicates {
            Some(Copy::Near)
        } else {
            None
        };
        let copy_of = kind.filter(|_| number >= 4).and_then(|kind| {
            let original = 1 + hash(&[self.config.seed, host as u64, number as u64, 12]) as usize % (number - 1);
            let is_original = !is_listing(original) && self.plan(host, original).copy_of.is_none();
            is_original.then_some((original, kind))
        });
        Plan { page_type: main, copy_of }
    }

    /// The main content of a page after so many changes.
    pub fn content(&self, host: usize, number: usize, version: u64) -> Content {
        let (host, number) = self.source(host, number);
        let language = self.hosts[host].language;
        let plan = self.plan(host, number);
        let key = |number: usize| [self.config.seed, host as u64, number as u64, 0];
        let mut content = match plan.copy_of {
            None => prose::content(plan.page_type, language, &key(number)),
            Some((original, Copy::Exact)) => prose::content(plan.page_type, language, &key(original)),
            Some((original, Copy::Near)) => {
                let content = prose::content(plan.page_type, language, &key(original));
                prose::almost(content, language, &key(number))
            }
        };
        if plan.page_type == PageType::Listing {
            content.blocks =
                self.items(host, number).into_iter().map(|(_, title, teaser)| Block::Item(title, teaser)).collect();
        }
        if version > 0 {
            content = prose::almost(content, language, &[self.config.seed, host as u64, number as u64, version]);
        }
        content
    }

    /// What a listing shows: pages of its host with their titles and first sentences.
    pub fn items(&self, host: usize, number: usize) -> Vec<(usize, String, String)> {
        let (host, number) = self.source(host, number);
        let language = self.hosts[host].language;
        let mut seen = vec![number];
        let mut items = Vec::new();
        for (to_host, page) in self.targets(host, number) {
            let plan = self.plan(to_host, page);
            if to_host != host || seen.contains(&page) || plan.page_type == PageType::Listing || items.len() == 12 {
                continue;
            }
            seen.push(page);
            let content = self.content(host, page, 0);
            let teaser = content.blocks.iter().find_map(|block| match block {
                Block::Paragraph(sentences) | Block::Post { sentences, .. } => {
                    Some(sentences.iter().take(2).cloned().collect::<Vec<_>>().join(language.between_sentences()))
                }
                _ => None,
            });
            items.push((page, content.title, teaser.unwrap_or_default()));
        }
        items
    }

    pub fn title(&self, host: usize, number: usize) -> String {
        let (host, number) = self.source(host, number);
        let plan = self.plan(host, number);
        let number = plan.copy_of.map_or(number, |(original, _)| original);
        prose::title(plan.page_type, self.hosts[host].language, &[self.config.seed, host as u64, number as u64, 0])
    }

    /// The path of a page.
    pub fn path(&self, host: usize, number: usize) -> String {
        if number == 0 {
            return "/".to_owned();
        }
        let (host, number) = self.source(host, number);
        let month = 1 + hash(&[self.config.seed, host as u64, number as u64, 13]) % 12;
        match self.plan(host, number).page_type {
            PageType::Article => format!("/2026/{month:02}/story-{number}.html"),
            PageType::Forum => format!("/forum/thread-{number}"),
            PageType::Listing => format!("/list/{number}"),
            PageType::Product => format!("/shop/item-{number}.html"),
            PageType::Documentation => format!("/docs/guide-{number}/"),
        }
    }

    pub fn url(&self, host: usize, number: usize) -> String {
        format!("http://{}{}", self.hosts[host].authority, self.path(host, number))
    }

    /// The page at a path, if there is one.
    pub fn find_page(&self, host: usize, path: &str) -> Option<usize> {
        if path == "/" {
            return Some(0);
        }
        let digits = path.trim_end_matches('/').trim_end_matches(".html");
        let start = digits.rfind(|letter: char| !letter.is_ascii_digit())? + 1;
        let number: usize = digits[start..].parse().ok()?;
        (number > 0 && number < self.n_pages(host) && self.path(host, number) == path).then_some(number)
    }

    /// The pages that a page links to, host and number, in order: its children in the tree first.
    pub fn targets(&self, host: usize, number: usize) -> Vec<(usize, usize)> {
        let mut targets: Vec<(usize, usize)> = Vec::with_capacity(self.config.links_per_page + 4);
        let linked = self.n_linked(host);
        targets.extend((3 * number + 1..=3 * number + 3).filter(|child| *child < linked).map(|child| (host, child)));
        let (source, _) = self.source(host, number);
        let mut random = Random::new(&[self.config.seed, source as u64, number as u64, 14]);
        if self.hosts[host].role == Role::Spam {
            let spam: Vec<usize> =
                (0..self.hosts.len()).filter(|other| self.hosts[*other].role == Role::Spam).collect();
            for other in spam {
                let page = random.below(self.n_linked(other));
                targets.push((other, page));
            }
            return targets;
        }
        while targets.len() < self.config.links_per_page {
            let other = match random.below(4) {
                0 if self.config.hosts > 0 => random.below(self.config.hosts),
                _ => host,
            };
            let page = random.below(self.n_linked(other));
            targets.push((other, page));
        }
        if number == 0 && host == 0 {
            let traps = self.config.hosts..self.hosts.len();
            targets.extend(
                traps.filter(|trap| !matches!(self.hosts[*trap].role, Role::Farm | Role::Spam)).map(|trap| (trap, 0)),
            );
            let first = |role: Role| self.hosts.iter().position(|host| host.role == role);
            targets.extend([first(Role::Farm), first(Role::Spam)].into_iter().flatten().map(|host| (host, 0)));
        }
        targets
    }

    /// The links of a page as they are written: absolute, relative, with fragments and dots; `nonce` is new for every
    /// answer, for hosts that put session ids into links.
    pub fn links(&self, host: usize, number: usize, nonce: u64) -> Vec<Link> {
        let mut random = Random::new(&[self.config.seed, host as u64, number as u64, 15]);
        let mut links: Vec<Link> = self
            .targets(host, number)
            .into_iter()
            .map(|(to_host, to_page)| {
                let path = self.path(to_host, to_page);
                let authority = &self.hosts[to_host].authority;
                let mut href = if to_host != host {
                    if random.below(4) == 0 {
                        format!("//{authority}{path}")
                    } else {
                        format!("http://{authority}{path}")
                    }
                } else {
                    match random.below(8) {
                        0 => format!("http://{authority}{path}"),
                        1 => format!("{path}#part-{}", random.below(5)),
                        2 => format!("/list/..{path}"),
                        _ => path,
                    }
                };
                if to_host == host && self.hosts[host].role == Role::Session {
                    let (before, fragment) = href.split_once('#').unwrap_or((&href, ""));
                    let hash_sign = if fragment.is_empty() { "" } else { "#" };
                    href = format!("{before}?sid={:016x}{hash_sign}{fragment}", hash(&[nonce, 16]));
                }
                let text = match self.config.pages {
                    PageStyle::Realistic => self.title(to_host, to_page),
                    PageStyle::Plain(_) => format!("page {to_page} of host {to_host}"),
                };
                Link { href, text }
            })
            .collect();
        links.extend(self.odd_links(host, number, &mut random));
        links
    }

    /// Links to redirects, forbidden pages and nothing at all, on every third page.
    fn odd_links(&self, host: usize, number: usize, random: &mut Random) -> Vec<Link> {
        let mut links = Vec::new();
        if !number.is_multiple_of(3) {
            return links;
        }
        let role = self.hosts[host].role;
        let mut link = |href: String| links.push(Link { href, text: format!("notice {}", random.below(1000)) });
        if let [(_, target), (other, _)] = self.redirect_targets(host, number)[..] {
            link(format!("/moved/1/{target}"));
            link(format!("/moved/{}/{target}", 2 + number % 19));
            link(format!("/away/{other}/0"));
            link("/loop/a".to_owned());
            link("/loop/self".to_owned());
        }
        if self.config.robots != Robots::Open && role == Role::Ordinary {
            link(format!("/private/{}", number % PRIVATE_PAGES));
        }
        if role == Role::Soft404 {
            link(format!("/gone/{number}-{:x}", hash(&[self.config.seed, number as u64])));
        }
        links
    }

    /// Where the redirects lead that a page links to: a page of its own host, and the root of another.
    pub fn redirect_targets(&self, host: usize, number: usize) -> Vec<(usize, usize)> {
        if !self.config.redirects || self.hosts[host].role != Role::Ordinary || !number.is_multiple_of(3) {
            return Vec::new();
        }
        let random = |salt| hash(&[self.config.seed, host as u64, number as u64, salt]) as usize;
        vec![(host, random(17) % self.n_linked(host)), (random(18) % self.config.hosts, 0)]
    }

    /// Whether and how a page fails.
    pub fn fails(&self, host: usize, number: usize) -> Option<Failure> {
        if number == 0 || !self.is_leaf(host, number) || self.hosts[host].role != Role::Ordinary {
            return None;
        }
        let random = share(&[self.config.seed, host as u64, number as u64, 19]);
        if random < self.config.broken {
            Some(Failure::Always)
        } else if random < self.config.broken + self.config.flaky {
            Some(Failure::Once)
        } else {
            None
        }
    }

    /// How often a page has changed after so many seconds, and when it did last.
    pub fn version(&self, host: usize, number: usize, seconds: f64) -> (u64, f64) {
        if self.config.changes_per_second <= 0.0 {
            return (0, 0.0);
        }
        let rate = self.config.changes_per_second * self.change_factor(host, number);
        let mut random = Random::new(&[self.config.seed, host as u64, number as u64, 20]);
        let (mut version, mut last, mut time) = (0, 0.0, 0.0);
        // A page that would change more often than this within one run is as good as always new.
        while version < 100_000 {
            time += -(1.0 - random.share()).ln() / rate;
            if time > seconds {
                break;
            }
            version += 1;
            last = time;
        }
        (version, last)
    }

    /// Pages differ in how often they change: 10^-2 to 10^2 around the mean, evenly in the logarithm, scaled so that
    /// the mean over all pages is 1.
    pub fn change_factor(&self, host: usize, number: usize) -> f64 {
        let exponent = 4.0 * share(&[self.config.seed, host as u64, number as u64, 21]) - 2.0;
        let mean = (100.0 - 0.01) / (4.0 * std::f64::consts::LN_10);
        10f64.powf(exponent) / mean
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Always,
    Once,
}

/// 127.0.0.1, 127.0.0.2 and so on, without the addresses that end in 0 or 255.
pub(crate) fn loopback(index: usize) -> std::net::Ipv4Addr {
    let (high, low) = (index / 254, index % 254);
    std::net::Ipv4Addr::new(127, (high / 256) as u8, (high % 256) as u8, (low + 1) as u8)
}

fn without_port(authority: &str) -> &str {
    authority.rsplit_once(':').map_or(authority, |(name, _)| name)
}

fn site_word(main: PageType) -> &'static str {
    match main {
        PageType::Article | PageType::Listing => "news",
        PageType::Forum => "forum",
        PageType::Product => "shop",
        PageType::Documentation => "docs",
    }
}
