//! Prompts for commands that the assistant runs directly, without the loop driver.
//!
//! Each prompt states the directories of the run, the staged inputs, the user's request and the files to
//! write. The task of a command is a Markdown template next to this file.

use std::path::{Path, PathBuf};

use loopgate_api::command::{CommandOutput, LoopCommand, UploadForm, WorkLocation};
use minijinja::{Environment, Value, context};

use crate::workspace::MountedPeer;

const FRAME: &str = include_str!("frame.md");

/// Values that are rendered into a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Prompt<'a> {
    pub command: LoopCommand,
    /// Current directory of the assistant.
    pub directory: &'a Path,
    /// Directory for the files of the run.
    pub work_dir: &'a Path,
    /// The user's clone, for commands that concern a repository.
    pub repository: Option<&'a Path>,
    /// Paths of the staged inputs.
    pub inputs: &'a [PathBuf],
    /// The user's request, inserted verbatim.
    pub request: Option<&'a str>,
    /// Peer repositories to list.
    pub peers: &'a [MountedPeer],
}

impl Prompt<'_> {
    /// Renders the prompt.
    ///
    /// # Errors
    /// Fails when one of the embedded templates is invalid.
    pub fn text(&self) -> Result<String, minijinja::Error> {
        let mut text = self.framed()?;
        if !self.peers.is_empty() {
            text.push_str("\n## Mounted paths\n\n");
            for MountedPeer { full_name, branch, local_path } in self.peers {
                let path = local_path.display();
                text.push_str(&format!("- `{full_name}` on `{branch}` at `{path}`\n"));
            }
        }
        Ok(text)
    }

    fn framed(&self) -> Result<String, minijinja::Error> {
        let spec = self.command.spec();
        let outputs = spec.outputs.iter().filter(|output| !is_report_of_judges(output));
        let outputs: Vec<Value> = outputs.map(|output| self.expected_file(output)).collect();
        let inputs: Vec<String> = self.inputs.iter().map(|path| text(path)).collect();
        let environment = Environment::new();
        environment.render_str(
            FRAME,
            context! {
                task => task(self.command),
                command => self.command.as_str(),
                directory => text(self.directory),
                work_dir => text(self.work_dir),
                in_worktree => matches!(spec.location, WorkLocation::Worktree(_)),
                repository => self.repository.map(text),
                inputs,
                request => self.request,
                outputs,
            },
        )
    }

    /// Returns the template context of an output file.
    fn expected_file(&self, output: &CommandOutput) -> Value {
        let directory = if output.in_project_root() { self.directory } else { self.work_dir };
        let path = text(&directory.join(output.file));
        context! { path, required => output.required, shape => shape(output.file) }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Returns whether the judges write an output. An assistant that wrote it would choose the scores.
const fn is_report_of_judges(output: &CommandOutput) -> bool {
    matches!(output.upload, Some((_, UploadForm::Judges)))
}

/// Returns the template with the task of a command.
const fn task(command: LoopCommand) -> &'static str {
    match command {
        LoopCommand::RequestChanges => include_str!("request_changes.md"),
        LoopCommand::GeneratePrd => include_str!("generate_prd.md"),
        LoopCommand::RequestPrdChanges => include_str!("request_prd_changes.md"),
        _ => include_str!("decompose.md"),
    }
}

/// Returns the description of an output file's format.
const fn shape(file: &str) -> &'static str {
    match file.as_bytes() {
        b"plan.json" => include_str!("shape_plan.md"),
        b"plan.md" => "the plan as markdown",
        b"open-questions.md" => {
            "markdown, one question per line that only the user can answer; no file when there are none"
        }
        b"prd.md" => include_str!("shape_prd.md"),
        _ => include_str!("shape_features.md"),
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::Runner;

    use super::*;

    fn prompt(command: LoopCommand) -> Prompt<'static> {
        Prompt {
            command,
            directory: Path::new("/w"),
            work_dir: Path::new("/w/run"),
            repository: Some(Path::new("/code/api")),
            inputs: &[],
            request: Some("Make it shorter"),
            peers: &[],
        }
    }

    #[test]
    fn every_prompt_names_paths_request_and_outputs() {
        // Reviews are rendered without the frame, and some commands run elsewhere.
        let prompted = |command: &LoopCommand| command.spec().runner == Runner::Prompt;
        let framed = LoopCommand::ALL
            .iter()
            .copied()
            .filter(prompted)
            .filter(|command| command.runs_on_desktop() && *command != LoopCommand::CodeReview);
        for command in framed {
            let text = prompt(command).text().unwrap();
            for part in [command.as_str(), "`/w`", "`/w/run`", "/code/api", "Make it shorter"] {
                assert!(text.contains(part), "{command}: {part} is missing in {text}");
            }
            for output in command.spec().required_outputs() {
                assert!(text.contains(output.file), "{command}: {} is missing in {text}", output.file);
            }
            assert!(!text.contains("{{") && !text.contains("{%") && !text.contains("Mounted"), "{text}");
        }
    }

    // The page finds the answers by this heading.
    #[test]
    fn changed_plan_answers_numbered_comments() {
        let text = prompt(LoopCommand::RequestChanges).text().unwrap();
        assert!(text.contains("## Answers to comments") && text.contains("<number>."), "{text}");
    }

    #[test]
    fn no_prompt_asks_for_a_report_of_judges() {
        for command in LoopCommand::ALL.iter().filter(|command| command.spec().runner == Runner::Prompt) {
            assert!(!prompt(*command).text().unwrap().contains("judges.json"), "{command}");
        }
    }

    #[test]
    fn peer_repositories_are_appended_to_the_prompt() {
        let alone = prompt(LoopCommand::GeneratePrd).text().unwrap();
        let peers = [MountedPeer {
            full_name: "acme/web".to_owned(),
            branch: "main".to_owned(),
            local_path: "/w/web".into(),
        }];
        let text = Prompt { peers: &peers, ..prompt(LoopCommand::GeneratePrd) }.text().unwrap();
        let added = text.strip_prefix(&alone).unwrap();
        assert_eq!(added, "\n## Mounted paths\n\n- `acme/web` on `main` at `/w/web`\n");
    }
}
