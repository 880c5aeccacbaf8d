import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { newId } from "#events/ids.ts";
import { print, escapeControls } from "../output.ts";
import { CliError } from "../cliError.ts";
import {
  AnswersFile,
  createAnswers,
  NO_ANSWERS,
  parseFile,
  stepFailure,
  type ApprovalAnswer,
  type Answers,
} from "./answers.ts";
import { describeCall, describeEnd, placeIn, shortJson } from "./describeCalls.ts";
import { LOCAL_ORGANIZATION, openLocalSandbox, type LocalSandbox, type LocalScript } from "./loadScript.ts";
import type { Answerer, ApprovalCall, LocalObserver } from "./localCalls.ts";
import { fillForms } from "./localForms.ts";
import { runLocally } from "./localRun.ts";
import { executeStep, localHost } from "./localStep.ts";

interface RunOptions {
  args: string;
  answers?: string;
  liveSteps?: boolean;
}

/** Parses JSON, or `@FILE` with JSON. Throws CliError. */
function readArgs(text: string): Record<string, unknown> {
  const json = text.startsWith("@") ? readFileSync(text.slice(1), "utf8") : text;
  try {
    const args: unknown = JSON.parse(json);
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return args as Record<string, unknown>;
  } catch {}
  throw new CliError("--args is not a JSON object", `give it as '{"name": "Ada"}' or as @args.json`);
}

/** Throws CliError if the arguments do not match `meta.args`. */
export async function checkRunArgs({ schemas }: LocalSandbox, script: LocalScript, args: object): Promise<void> {
  const wrong = await schemas.check(LOCAL_ORGANIZATION, script.args_schema, args);
  if (wrong)
    throw new CliError(
      `The arguments do not fit meta.args of ${script.file}: ${wrong.pointer || "/"}: ${wrong.message}`,
      "change the arguments",
    );
}

/** Lines of the terminal. */
function openTerminal() {
  const lines = createInterface({ input: process.stdin });
  const iterator = lines[Symbol.asyncIterator]();
  return {
    /** Undefined at the end of the input. */
    async ask(question: string): Promise<string | undefined> {
      process.stdout.write(question);
      const { value, done } = await iterator.next();
      return done ? undefined : String(value).trim();
    },
    close: (): void => lines.close(),
  };
}
type Terminal = ReturnType<typeof openTerminal>;

const noAnswer = (name: string): CliError =>
  new CliError(`The approval ${name} has no answer`, `add it to --answers: {"approvals": {"${name}": "approve"}}`);

/** Throws CliError at the end of the input. */
async function askApproval(terminal: Terminal, { name, options }: ApprovalCall): Promise<ApprovalAnswer> {
  const { title, body, form } = options;
  if (body !== null) print(escapeControls(body));
  for (;;) {
    const text = await terminal.ask(`${escapeControls(title)} [approve/reject/expire/wait] `);
    if (text === undefined) throw noAnswer(name);
    const decision = (["approve", "reject", "expire", "wait"] as const).find(
      (each) => text !== "" && each.startsWith(text),
    );
    if (!decision) continue;
    const data = decision === "approve" && form ? await askForm(terminal, name) : null;
    return { decision, data, comment: null, by: "local" };
  }
}

async function askForm(terminal: Terminal, name: string): Promise<unknown> {
  for (;;) {
    const text = await terminal.ask("The form as JSON: ");
    if (text === undefined) throw noAnswer(name);
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      print(`This is not JSON: ${(error as Error).message}`);
    }
  }
}

/** Prints each call with its place in the source, and its answer below it. */
const timeline = (file: string): LocalObserver => ({
  onCall: (call) => print(`${describeCall(call)}   ${placeIn(file, call.at)}`),
  onAnswer(call, answer) {
    if (call.kind === "timer") return;
    print(
      "json" in answer ? `  = ${shortJson(JSON.parse(answer.json))}` : `  ! ${escapeControls(answer.error.message)}`,
    );
  },
  onLog: (line) => print(`  log: ${escapeControls(line)}`),
});

interface AnswererOptions {
  sandbox: LocalSandbox;
  script: LocalScript;
  answers: Answers;
  secrets: Record<string, string>;
  isLive: boolean;
  terminal: Terminal;
}

function createAnswerer({ sandbox, script, answers, secrets, isLive, terminal }: AnswererOptions): Answerer {
  const host = localHost({ isLive, secrets });
  return {
    async step(step, _at, run_id) {
      const given = answers.step(step.name, JSON.parse(step.args));
      if (given && "error" in given) throw stepFailure(given);
      if (given) return JSON.stringify(given.result ?? null);
      if (!isLive && !answers.isExecuted(step.name))
        throw new CliError(
          `The step ${step.name} has no answer`,
          `add it to --answers: {"steps": {"${step.name}": {"result": …}}}, or execute steps with --live-steps`,
        );
      return executeStep(
        {
          sandbox,
          script,
          host,
          run_id,
          isLive,
          onAttempt(attempt, failure, logs) {
            for (const line of logs) print(`  log: ${escapeControls(line)}`);
            if (failure)
              print(`  attempt ${attempt}: ${placeIn(script.file, failure)}: ${escapeControls(failure.message)}`);
          },
        },
        step,
      );
    },
    async run(name) {
      const given = answers.run(name);
      if (given) return given;
      throw new CliError(
        `The end of the run ${name} has no answer`,
        `add it to --answers: {"runs": {"${name}": {"result": …}}}`,
      );
    },
    async agent(name) {
      const given = answers.agent(name);
      if (given) return given;
      throw new CliError(
        `The agent ${name} has no answer`,
        `add it to --answers: {"agents": {"${name}": {"output_text": …}}}`,
      );
    },
    event: async ({ name }) => answers.event(name),
    approval: async (call) =>
      fillForms(sandbox.schemas, call, answers.approval(call.name) ?? (await askApproval(terminal, call))),
  };
}

/** Runs a workflow file on this machine and prints what it does. A failed run sets exit code 1. */
export async function runFile(file: string, options: RunOptions): Promise<void> {
  const args = readArgs(options.args);
  const given = options.answers
    ? parseFile(AnswersFile, readFileSync(options.answers, "utf8"), options.answers)
    : NO_ANSWERS;
  const sandbox = openLocalSandbox();
  const terminal = openTerminal();
  try {
    const script = await sandbox.load(file);
    for (const { line, column, message } of script.lint) print(`warning ${file}:${line}:${column}: ${message}`);
    await checkRunArgs(sandbox, script, args);
    const { headers, secrets, now = new Date().toISOString() } = given;
    const answers = createAnswers(given);
    const answerer = createAnswerer({
      sandbox,
      script,
      answers,
      secrets,
      isLive: options.liveSteps ?? false,
      terminal,
    });
    const observer = timeline(file);
    const run = { script, run_id: newId(), args: JSON.stringify(args), headers, now, answerer, observer };
    const end = await runLocally(sandbox, run);
    print(describeEnd(file, end));
    if (end.type === "failed") process.exitCode = 1;
  } finally {
    terminal.close();
    await sandbox.close();
  }
}
