import { Command, CommanderError } from "commander";
import type { Role } from "../roles/runRoles.ts";
import {
  parseOrganizationName,
  parsePath,
  SERVICE_URL,
  parseLogTip,
  parseUuid,
  parseWholeNumber,
} from "./arguments.ts";
import { explainError } from "./explainError.ts";
import { addPrivacy } from "./privacy/commands.ts";
import { endWithReader } from "./reader.ts";

/* A command's module is loaded only when it runs, so that a tool starts in 0.3 s instead of 1.5. */

const ROLES: Record<Role, string> = {
  http: "run only the public API",
  services: "run only deciders, turns and reactors",
  projections: "run only the projector of the read models; with a subcommand, manage the read models",
};
const json = ["--json", "print JSON, for programs"] as const;

function addRoles(svc: Command): void {
  const start = async (which: Role | "all") => (await import("./start.ts")).start(which);
  svc
    .command("all")
    .description("run every role in one process, with the servers it needs")
    .action(() => start("all"));
  for (const [role, description] of Object.entries(ROLES) as [Role, string][])
    svc
      .command(role)
      .description(description)
      .action(() => start(role));
}

function addLog(svc: Command): void {
  const log = svc.command("log").description("the event log");
  log
    .command("tail")
    .description("print events, newest last")
    .option("--follow", "continue with new events")
    .option("--stream <stream>", "only of this stream")
    .option("--type <type>", "only of this type")
    .option("--organization <id>", "only of this organization", parseUuid)
    .option("--after <position>", "only after this position", parseWholeNumber(0))
    .option("--limit <n>", "maximum number (20, or all with --after)", parseWholeNumber(1))
    .option("--personal", "include personal fields")
    .option(...json)
    .action(async (options) => (await import("./log/tail.ts")).tail(options));
  log
    .command("export")
    .description("export the log as JSON lines, which svc log verify can check elsewhere")
    .option("--after <position>", "only events after this position", parseWholeNumber(0))
    .option("--out <file>", "write to a file instead of stdout", parsePath)
    .action(async (options) => (await import("./log/export.ts")).exportLog(options));
  log
    .command("verify")
    .description("prove that no event was altered or removed")
    .option("--file <file>", "verify an export instead of the live log", parsePath)
    .option("--expect <position:hash>", "also prove that this earlier tip is part of it", parseLogTip)
    .option("--certificate <file>", "also check the certificate of an erasure", parsePath)
    .option(...json)
    .action(async (options) => (await import("./log/verify.ts")).verify(options));
}

/** Adds subcommands to the role's command, which by itself starts the role. */
function addProjections(svc: Command): void {
  const group = svc.commands.find((command) => command.name() === "projections")!;
  group
    .command("status")
    .description("print the position and the parked streams of each read model")
    .option(...json)
    .action(async (options) => (await import("./projections/status.ts")).status(options));
  group
    .command("rebuild")
    .description("rebuild a read model or the passage index from the log, while the current one keeps serving")
    .argument("[name]")
    .option("--all", "rebuild every read model, one after the other")
    .option(...json)
    .action(async (name, options) => (await import("./projections/rebuild.ts")).rebuild(name, options));
}

function addDead(svc: Command): void {
  const dead = svc.command("dead").description("dead letters: messages that failed too often");
  const seq = ["<seq>", "its number in the list", parseWholeNumber(1)] as const;
  dead
    .command("list")
    .description("print them, oldest first")
    .option("--limit <n>", "maximum number", parseWholeNumber(1), 100)
    .option("--personal", "include their content")
    .option(...json)
    .action(async (options) => (await import("./deadLetters.ts")).listDead(options));
  dead
    .command("replay")
    .description("send one again")
    .argument(...seq)
    .action(async (number) => (await import("./deadLetters.ts")).replayDead(number));
  dead
    .command("remove")
    .description("remove one")
    .argument(...seq)
    .action(async (number) => (await import("./deadLetters.ts")).removeDead(number));
}

function addDocuments(svc: Command): void {
  const documents = svc.command("documents").description("the documents of collections");
  documents
    .command("warnings")
    .description("print the documents whose text lacks a part of their file, last changed first")
    .option("--organization <id>", "only of this organization", parseUuid)
    .option("--limit <n>", "maximum number of documents", parseWholeNumber(1), 100)
    .option(...json)
    .action(async (options) => (await import("./documents.ts")).listWarnings(options));
}

function addFeed(svc: Command): void {
  const feed = svc.command("feed").description("the feed of events for other services");
  feed
    .command("add")
    .description("let the listener of this name receive the events of one organization")
    .argument("<name>", "its NATS user, see deploy/nats-users.conf")
    .argument("<organization>", "the organization's id", parseUuid)
    .action(async (name, organization) => (await import("./feed.ts")).addListener(name, organization));
}

/** Commands for workflows and tools in a developer's files. */
function addDefinitions(svc: Command): void {
  svc
    .command("run")
    .description("run a workflow of a file on this machine, without a service, and print what it does")
    .argument("<file>", "a definition in TypeScript or JavaScript", parsePath)
    .option("--args <json>", "the arguments, as JSON or as @FILE", "{}")
    .option("--answers <file>", "answers for steps and approvals; without them approvals are asked here", parsePath)
    .option("--live-steps", "execute the steps that have no answer, with their requests to the network")
    .action(async (file, options) => (await import("./workflows/runFile.ts")).runFile(file, options));
  const definitions = svc.command("definitions").description("workflows and tools as files in a folder");
  definitions
    .command("push")
    .description("save the definitions of a folder that differ from those of the service")
    .argument("<path>", "a folder, or one file", parsePath)
    .option("--dry-run", "only print what would be saved")
    .option(...SERVICE_URL)
    .action(async (from, options) => (await import("./definitions/push.ts")).push(from, options));
  definitions
    .command("pull")
    .description("write the definitions of the service into a folder; edits that were never saved are kept")
    .argument("<folder>", "where their files are", parsePath)
    .option("--force", "overwrite edits, too")
    .option(...SERVICE_URL)
    .action(async (folder, options) => (await import("./definitions/pull.ts")).pull(folder, options));
  definitions
    .command("list")
    .description("print the definitions of the service, compared with a folder if one is named")
    .argument("[folder]", "where their files are", parsePath)
    .option(...SERVICE_URL)
    .option(...json)
    .action(async (folder, options) => (await import("./definitions/list.ts")).list(folder, options));
  definitions
    .command("check")
    .description("check definitions as a save would, and replay stored runs with them")
    .argument("<path>", "a folder, or one file", parsePath)
    .option("--local", "do not ask the service")
    .option("--runs <n>", "runs of each workflow, newest first", parseWholeNumber(1), 100)
    .option("--allow-different", "exit with 0 even if runs differ from their record")
    .option(...SERVICE_URL)
    .action(async (from, options) => (await import("./definitions/check.ts")).check(from, options));
  definitions
    .command("test")
    .description("run the cases of *.test.json files on this machine, without a service")
    .argument("<paths...>", "folders, definitions or files of cases")
    .option(...json)
    .action(async (paths, options) => (await import("./workflows/testFiles.ts")).testDefinitions(paths, options));
}

function addBackup(svc: Command): void {
  svc
    .command("backup")
    .description("write the log, the data keys and the blobs into a new folder, while the service goes on")
    .requiredOption("--out <folder>", "a folder that does not exist or is empty", parsePath)
    .option(...json)
    .action(async (options) => (await import("./backup/backup.ts")).backup(options));
  svc
    .command("restore")
    .description("write a backup into an empty database and an empty DATA_DIR, and verify the log")
    .requiredOption("--from <folder>", "a folder that svc backup has written", parsePath)
    .action(async (options) => (await import("./backup/restore.ts")).restore(options));
}

function program(): Command {
  const svc = new Command("svc")
    .description("The assistant platform: its roles and its tools.")
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(`${text.trim().replace(/\s*\n\s*/g, " ")} (svc --help lists all commands)\n`),
    });
  addRoles(svc);
  const org = svc.command("org").description("organizations");
  org
    .command("create")
    .description("create one in the running service and print its credentials")
    .argument("<name>", "its name", parseOrganizationName)
    .option(...json)
    .action(async (name, options) => (await import("./createOrg.ts")).createOrg(name, options));
  svc
    .command("migrate")
    .description("migrate the database, as the owner of its tables")
    .option("--service-role <role>", "let this role run the service, without the right to change the log")
    .action(async (options) => (await import("./migrate.ts")).migrate(options));
  addBackup(svc);
  addLog(svc);
  addProjections(svc);
  addDead(svc);
  addDocuments(svc);
  addFeed(svc);
  addPrivacy(svc);
  addDefinitions(svc);
  svc
    .command("doctor")
    .description("check everything that the service needs")
    .option(...json)
    .action(async (options) => (await import("./doctor/index.ts")).doctor(options));
  return svc;
}

/** Time that open handles may keep the process alive after the command has ended. */
const EXIT_TIMEOUT_MS = 1_000;

/** Runs the command. A failure prints one line that says what to do next, and sets exit code 1. */
export async function runProgram(args: string[]): Promise<void> {
  endWithReader();
  try {
    await program().parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      process.stderr.write(`${explainError(error)}\n`);
      if (process.env["LOG_LEVEL"] === "debug") process.stderr.write(`${(error as Error).stack}\n`);
      process.exitCode = 1;
    }
  }
  // An abandoned turn may still be waiting for its provider, and the NATS client leaves a socket open if the server never greeted
  // it.
  setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
}
