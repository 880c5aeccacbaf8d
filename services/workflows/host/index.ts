import { createHash } from "node:crypto";
import type { Keyring } from "#events/ports.ts";
import { secretStream } from "#events/secret.ts";
import { secretValue } from "../../secretValue.ts";
import { unlessAborted } from "../../turns/tools/call.ts";
import { StepFailure, type PlatformCall, type StepHost } from "../tick.ts";
import { runAgent, type Agents } from "./agent.ts";
import { chat } from "./chat.ts";
import { fetchFor, type FetchPort } from "./fetch.ts";
import { checked, wrong, type InputOf } from "./input.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { liveStanding, standing } from "./standing.ts";
import type { Asking, AskingStep } from "./step.ts";
import { callTool, read, search, type ToolDeps } from "./tool.ts";
import type { TurnDeps } from "./turns.ts";

export interface StepHostDeps extends TurnDeps, ToolDeps {
  keyring: TurnDeps["keyring"] & Pick<Keyring, "openSecret">;
  agents: Agents;
  fetch: FetchPort;
  /** A step was told a secret. */
  onSecret(step: AskingStep, name: string): void;
  /** Something failed that is no fault of the step. */
  onError(error: unknown, step: AskingStep, what: string): void;
}

/** What an attempt may use of the platform, and what takes the secrets that it was told out of what it leaves. */
export interface HostOfStep {
  host: StepHost;
  /** Of logs and messages. */
  redact: Redactor["text"];
  /** Of the result. */
  redactJson: Redactor["json"];
  /** Names of the secrets that it was told. */
  resolved: Redactor["names"];
}

type Calls = {
  [What in PlatformCall]: (deps: StepHostDeps, asking: Asking, input: InputOf<What>) => Promise<unknown>;
};
const CALLS: Calls = { chat, agent: runAgent, search, read, tool: callTool };
/** A model is told no secret. */
const TOLD_TO_MODELS: ReadonlySet<PlatformCall> = new Set(["chat", "agent"]);

async function secretFor(deps: StepHostDeps, step: AskingStep, name: string): Promise<string> {
  const refuse = (code: StepFailure["code"], message: string) => new StepFailure(code, message, { final: true });
  const stream = secretStream(step.organization_id, name);
  const { live, envelope, heads } = await standing(deps.log, step, [stream]);
  if (!live) throw refuse("secret_access_revoked", "The run has ended: no secret is told to its steps any more.");
  if (!envelope.secrets.includes(name))
    throw refuse(
      "secret_not_allowed",
      `The secret ${String(name).slice(0, 100)} is not in the workflow's envelope.secrets.`,
    );
  const value = await secretValue(deps, step.organization_id, name, heads.get(stream));
  if (value === undefined) throw refuse("secret_not_connected", `The secret ${name} is not set.`);
  return value;
}

const encoded = (what: PlatformCall, input: unknown): string => {
  try {
    return JSON.stringify(input);
  } catch {
    throw wrong(`${what}: the input is no JSON.`);
  }
};

/**
 * What steps may use of the platform. Each use asks the log anew whether the attempt is the one that runs and what the
 * workflow's envelope allows.
 */
export function createStepHosts(deps: StepHostDeps): (step: AskingStep) => HostOfStep {
  return (step) => {
    const redactor = createRedactor();
    /** How often the attempt has made each call. */
    const made = new Map<string, number>();

    const attended = async <T>(what: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
      try {
        signal?.throwIfAborted();
        return await (signal ? unlessAborted(work(), signal) : work());
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof StepFailure) throw error;
        deps.onError(error, step, what);
        throw new StepFailure("step_error", `${what}: the platform could not do this now; it may later.`);
      }
    };

    async function call(what: PlatformCall, sent: unknown, signal: AbortSignal): Promise<unknown> {
      const json = encoded(what, checked(what, sent));
      const told = TOLD_TO_MODELS.has(what) ? redactor.json(json) : json;
      const content = createHash("sha256").update(told).digest("base64url");
      const identity = `${what} ${content}`;
      const before = made.get(identity) ?? 0;
      made.set(identity, before + 1);
      const found = await liveStanding(deps.log, step);
      const asking: Asking = { step, standing: found, call: [what, content, String(before)], signal };
      return (CALLS[what] as Calls["read"])(deps, asking, JSON.parse(told));
    }

    return {
      redact: redactor.text,
      redactJson: redactor.json,
      resolved: redactor.names,
      host: {
        secret: (name) =>
          attended("secret", undefined, async () => {
            const value = await secretFor(deps, step, name);
            redactor.add(name, value);
            deps.onSecret(step, name);
            return value;
          }),
        fetch: (request, signal) =>
          attended("fetch", signal, async () => {
            const { envelope } = await standing(deps.log, step);
            return fetchFor(deps.fetch, envelope.egress, request, signal);
          }),
        // by what is asked and not by which call it is: a call that comes to be left out before it changes nothing
        call: (what, input, _nth, signal) => attended(what, signal, () => call(what, input, signal)),
      },
    };
  };
}
