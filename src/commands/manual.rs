//! `pith completions` and `pith man`: what a package installs beside the program.

use std::path::{Path, PathBuf};

use clap_complete::Shell;
use clap_mangen::Man;
use pith_corpus::atomic_file;

use super::corpus::failure;
use crate::args::command_line;
use crate::exit::{Exit, Failure};
use crate::print;

/// The arguments of `pith completions`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith completions bash > ~/.local/share/bash-completion/completions/pith
  pith completions fish > ~/.config/fish/completions/pith.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The arguments of `pith man`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith man | man -l -
  pith man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// A folder that gets a page for every command; pages that are there are replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the completions.
pub fn completions(args: CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "pith", &mut script);
    print::bytes(&script)?;
    Ok(Exit::Done)
}

/// Prints the manual page of the program, or writes all of them.
pub fn man(args: ManArgs) -> Result<Exit, Failure> {
    let mut command = command_line();
    command.build();
    match &args.out {
        None => print::bytes(&page(&command)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::new(format!("{}: cannot make the folder: {error}", folder.display())))?;
            write_pages(folder, "pith", &command)?;
        }
    }
    Ok(Exit::Done)
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Writes the page of a command and those of the commands below it: `pith-corpus-dedup.1`.
fn write_pages(folder: &Path, name: &str, command: &clap::Command) -> Result<(), Failure> {
    atomic_file::replace_named_file(&folder.join(format!("{name}.1")), &page(command)?).map_err(failure)?;
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        write_pages(folder, &format!("{name}-{}", below.get_name()), below)?;
    }
    Ok(())
}
