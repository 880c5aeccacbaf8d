import { createHash } from "node:crypto";
import type { Keyring, Vault } from "#events/vault.ts";
import { Unavailable } from "#events/ports.ts";
import { secretStream } from "#events/secret.ts";
import type { BuiltInTool } from "#events/tools.ts";
import { readSecretValue } from "../../readSecretValue.ts";
import { createRedactor, type Redactor } from "../../redaction/redactor.ts";
import { rejectOnAbort } from "../../turns/tools/call.ts";
import type { CallInput, PlatformCall } from "../stepInputs.ts";
import { StepFailure, type StepHost } from "../tick.ts";
import { runAgent, type Agents } from "./agent.ts";
import { chat } from "./chat.ts";
import type { TurnDeps } from "./turnStart.ts";
import { push, remove, type DocumentDeps } from "./documents.ts";
import { readFile, saveFile, type FileDeps } from "./files.ts";
import { fetchWithin, type FetchPort } from "./fetch.ts";
import { invalidInput, parseInput } from "./input.ts";
import { readPermissions } from "./permissions.ts";
import type { HostCall, StepAttempt } from "./step.ts";
import { callTool, read, search, type ToolDeps } from "./tool.ts";

export interface StepHostDeps extends TurnDeps, ToolDeps, FileDeps, DocumentDeps {
  log: TurnDeps["log"] & DocumentDeps["log"];
  vault: Pick<Vault, "createKey" | "findKey" | "get" | "put">;
  keyring: Pick<Keyring, "openSecret" | "keyedHash">;
  agents: Agents;
  fetchFor(organization: string): FetchPort;
  /** Called when a step reads a secret. */
  onSecret(step: StepAttempt, name: string): void;
  /** Called when a call fails for a reason of the platform, not of the script. */
  onError(error: unknown, step: StepAttempt, what: string): void;
}

/** The platform as one attempt sees it, and the redaction of the secrets it has read. */
export interface OpenStepHost {
  host: StepHost;
  /** For logs and messages. */
  redact: Redactor["text"];
  /** For the result. */
  redactJson: Redactor["json"];
  /** Names of the secrets that the attempt has read. */
  secretNames: Redactor["names"];
  /** Whether the last call failed because a dependency of the service was unavailable. */
  wasUnavailable(): boolean;
}

type Calls = {
  [What in PlatformCall]: (deps: StepHostDeps, hostCall: HostCall, input: CallInput<What>) => Promise<unknown>;
};
const CALLS: Calls = {
  chat,
  agent: runAgent,
  search,
  read,
  push,
  remove,
  save_file: saveFile,
  read_file: readFile,
  tool: callTool,
};
/**
 * Calls whose input goes to a model or is stored, so secrets in it are redacted. A search may be embedded by a model. `remove` finds
 * what `push` has stored, so both need the same external id.
 */
const REDACTED_CALLS: ReadonlySet<PlatformCall> = new Set(["chat", "agent", "search", "push", "remove", "save_file"]);
/** Tools that send a search to a model or to another service. Other tools get secrets, because they may need them. */
const REDACTED_TOOLS: ReadonlySet<string> = new Set<BuiltInTool>(["search_documents", "web_search"]);
const isRedacted = (what: PlatformCall, input: unknown): boolean =>
  REDACTED_CALLS.has(what) || (what === "tool" && REDACTED_TOOLS.has((input as CallInput<"tool">).name));

async function readSecret(deps: StepHostDeps, step: StepAttempt, name: string): Promise<string> {
  const failure = (code: StepFailure["code"], message: string) => new StepFailure(code, message, { final: true });
  const stream = secretStream(step.organization_id, name);
  const { live, envelope, heads } = await readPermissions(deps.log, step, [stream]);
  if (!live) throw failure("secret_access_revoked", "The run has ended: its steps can read no more secrets.");
  if (!envelope.secrets.includes(name))
    throw failure(
      "secret_not_allowed",
      `The secret ${String(name).slice(0, 100)} is not in the workflow's envelope.secrets.`,
    );
  const value = await readSecretValue(deps, step.organization_id, name, heads.get(stream));
  if (value === undefined) throw failure("secret_not_connected", `The secret ${name} is not set.`);
  return value;
}

const encode = (what: PlatformCall, input: unknown): string => {
  try {
    return JSON.stringify(input);
  } catch {
    throw invalidInput(`${what}: the input is not JSON.`);
  }
};

/** Runs work for a step. Turns failures of the platform into a StepFailure that may be retried. */
function createGuard({ onError }: StepHostDeps, step: StepAttempt) {
  let isUnavailable = false;
  return {
    wasUnavailable: () => isUnavailable,
    async guard<T>(what: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
      try {
        signal?.throwIfAborted();
        const answer = await (signal ? rejectOnAbort(work(), signal) : work());
        isUnavailable = false;
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        isUnavailable = error instanceof Unavailable;
        if (error instanceof StepFailure) throw error;
        onError(error, step, what);
        throw new StepFailure("step_error", `${what}: the platform could not do this now; a retry may work.`);
      }
    },
  };
}

/** Makes the platform calls of one attempt. */
function createCaller(deps: StepHostDeps, step: StepAttempt, redactor: Redactor) {
  const counts = new Map<string, number>();
  return async (what: PlatformCall, input: unknown, signal: AbortSignal): Promise<unknown> => {
    const parsed = parseInput(what, input);
    const json = encode(what, parsed);
    const redacted = isRedacted(what, parsed) ? await redactor.json(json) : json;
    const content = createHash("sha256").update(redacted).digest("base64url");
    // Identifies a call by its content and its number among equal ones, so that dropping an earlier call does not change the
    // others.
    const identity = `${what} ${content}`;
    const before = counts.get(identity) ?? 0;
    counts.set(identity, before + 1);
    const permissions = await readPermissions(deps.log, step);
    const hostCall: HostCall = { step, permissions, call: [what, content, String(before)], signal };
    return (CALLS[what] as Calls["read"])(deps, hostCall, JSON.parse(redacted));
  };
}

/** The platform for steps. Each call checks in the log that its attempt is current, and what the envelope allows. */
export function createStepHosts(deps: StepHostDeps): (step: StepAttempt) => OpenStepHost {
  return (step) => {
    const redactor = createRedactor();
    const call = createCaller(deps, step, redactor);
    const { guard, wasUnavailable } = createGuard(deps, step);
    return {
      redact: redactor.text,
      redactJson: redactor.json,
      secretNames: redactor.names,
      wasUnavailable,
      host: {
        secret: (name) =>
          guard("secret", undefined, async () => {
            const value = await readSecret(deps, step, name);
            redactor.add(name, value);
            deps.onSecret(step, name);
            return value;
          }),
        fetch: (request, signal) =>
          guard("fetch", signal, async () => {
            const { envelope } = await readPermissions(deps.log, step);
            return fetchWithin(deps.fetchFor(step.organization_id), envelope.egress, request, signal);
          }),
        call: (what, input, _nth, signal) => guard(what, signal, () => call(what, input, signal)),
      },
    };
  };
}
