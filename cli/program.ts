import { Command, CommanderError } from "commander";
import type { Role } from "../roles/run.ts";
import { tip, uuid, wholeNumber } from "./arguments.ts";
import { explain } from "./explain.ts";

/* What a command does is loaded when it runs: a tool answers without loading the whole service (0.3 s instead of 1.5). */

const ROLES: Record<Role, string> = {
  http: "the public API alone",
  services: "deciders, turns and reactors alone",
  projections: "the follower of the log into the read models alone; with a command, what there is to do with them",
};
const json = ["--json", "as JSON, for programs"] as const;

function addRoles(svc: Command): void {
  const start = async (which: Role | "all") => (await import("./start.ts")).start(which);
  svc
    .command("all")
    .description("every role in one process, with the services it needs")
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
    .description("events, the newest last")
    .option("--follow", "go on as events come")
    .option("--stream <stream>", "of one stream only")
    .option("--type <type>", "of one type only")
    .option("--organization <id>", "of one organization only", uuid)
    .option("--after <position>", "from behind this position on", wholeNumber(0))
    .option("--limit <n>", "at most so many (20, or all behind --after)", wholeNumber(1))
    .option("--personal", "personal fields too")
    .option(...json)
    .action(async (options) => (await import("./log/tail.ts")).tail(options));
  log
    .command("export")
    .description("the log as JSON lines that svc log verify can check elsewhere")
    .option("--after <position>", "from behind this position on", wholeNumber(0))
    .option("--out <file>", "to a file instead of stdout")
    .action(async (options) => (await import("./log/export.ts")).exportLog(options));
  log
    .command("verify")
    .description("prove that no event was altered, cut off or removed")
    .option("--file <file>", "an export instead of the live log")
    .option("--expect <position:hash>", "and that this tip, noted earlier, is part of it", tip)
    .option(...json)
    .action(async (options) => (await import("./log/verify.ts")).verify(options));
}

/** The role's own name: without a command behind it, it starts the role. */
function addProjections(svc: Command): void {
  const group = svc.commands.find((command) => command.name() === "projections")!;
  group
    .command("status")
    .description("where each stands, and what it has parked")
    .option(...json)
    .action(async (options) => (await import("./projections/status.ts")).status(options));
  group
    .command("rebuild")
    .description("build one, or the index of passages, anew from the log, beside the one that serves")
    .argument("[name]")
    .option("--all", "every read model, one after the other")
    .option(...json)
    .action(async (name, options) => (await import("./projections/rebuild.ts")).rebuild(name, options));
}

function addDead(svc: Command): void {
  const dead = svc.command("dead").description("messages that were given up");
  const seq = ["<seq>", "its number in the list", wholeNumber(1)] as const;
  dead
    .command("list")
    .description("the oldest first")
    .option("--limit <n>", "at most so many", wholeNumber(1), 100)
    .option("--personal", "what they carry, too")
    .option(...json)
    .action(async (options) => (await import("./dead.ts")).listDead(options));
  dead
    .command("replay")
    .description("send one again")
    .argument(...seq)
    .action(async (number) => (await import("./dead.ts")).replayDead(number));
  dead
    .command("remove")
    .description("forget one")
    .argument(...seq)
    .action(async (number) => (await import("./dead.ts")).removeDead(number));
}

function program(): Command {
  const svc = new Command("svc")
    .description("The assistant platform: its roles and its tools.")
    .exitOverride()
    .configureOutput({
      outputError: (text, write) =>
        write(`${text.trim().replace(/\s*\n\s*/g, " ")} (svc --help shows what there is)\n`),
    });
  addRoles(svc);
  const org = svc.command("org").description("organizations");
  org
    .command("create")
    .description("make one beside the running service and print its credentials")
    .argument("<name>")
    .option(...json)
    .action(async (name, options) => (await import("./org.ts")).createOrg(name, options));
  addLog(svc);
  addProjections(svc);
  addDead(svc);
  svc
    .command("doctor")
    .description("check everything that the service needs")
    .option(...json)
    .action(async (options) => (await import("./doctor/index.ts")).doctor(options));
  return svc;
}

/** What is still open when all is done has this long to close. */
const CLOSING_MS = 1_000;

/** Runs what the arguments ask for. A failure is one line that says what to do next, and exit code 1. */
export async function run(args: string[]): Promise<void> {
  // A reader that has seen enough (`| head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  try {
    await program().parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      process.stderr.write(`${explain(error)}\n`);
      if (process.env["LOG_LEVEL"] === "debug") process.stderr.write(`${(error as Error).stack}\n`);
      process.exitCode = 1;
    }
  }
  // NATS's client leaves the socket open on which a server never greeted it: the process would stay for that.
  setTimeout(() => process.exit(), CLOSING_MS).unref();
}
