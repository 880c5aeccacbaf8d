/*
 * What a workflow may import: put this beside your definitions, and an editor knows them. The service serves it at
 * /workflow.d.ts. Of the web platform there are URL, URLSearchParams, TextEncoder, TextDecoder, console and crypto.subtle
 * (digest; HMAC: importKey "raw", sign, verify); in steps also setTimeout, crypto.randomUUID and crypto.getRandomValues.
 */

declare module "svc:workflow" {
  /** `"30s"`, `"2h"`, `"3d"`, or milliseconds. */
  export type Duration = string | number;

  export interface StepSettings {
    /** Attempts after the first; 3. */
    retries?: number;
    backoff?: {
      kind?: "exponential" | "fixed";
      initial_ms?: number;
      factor?: number;
      max_ms?: number;
      jitter?: number;
    };
    /** 300, at most 3,600. */
    timeout_s?: number;
    /** What becomes of an attempt whose process was lost: another one, or failure. */
    on_lost?: "retry" | "fail";
    /** JSON Schema of the arguments. */
    input?: Record<string, unknown>;
  }

  export interface Answer {
    readonly status: number;
    readonly ok: boolean;
    readonly headers: { get(name: string): string | null };
    text(): Promise<string>;
    json(): Promise<any>;
  }

  export interface StepContext {
    readonly runId: string;
    readonly stepId: string;
    /** 1, 2, 3 … */
    readonly attempt: number;
    /** The same for every attempt. Writes of `fetch` carry keys that are derived from it, each its own. */
    readonly idempotencyKey: string;
    readonly runAs: { type: "service" | "person"; id: string | null };
    readonly NonRetryableError: typeof NonRetryableError;
    readonly secrets: { get(name: string): Promise<string> };
    fetch(
      url: string,
      init?: { method?: string; headers?: Record<string, string> | [string, string][]; body?: string },
    ): Promise<Answer>;
    chat(input: {
      model: string;
      messages: { role: "system" | "user" | "assistant"; content: string }[];
      [setting: string]: unknown;
    }): Promise<any>;
    readonly agents: { run(input: { agent_id: string; input: unknown; [setting: string]: unknown }): Promise<any> };
    readonly knowledge: {
      search(input: { query: string; [setting: string]: unknown }): Promise<any>;
      read(input: { document_id: string; from_seq?: number }): Promise<any>;
      /** Writes a document into a collection of the envelope's `writable_collections`. The same `external_id` again replaces it. */
      push(input: {
        collection: string;
        text: string;
        name?: string;
        format?: "markdown" | "text";
        tags?: string[];
        metadata?: Record<string, string | number | boolean>;
        external_id?: string;
      }): Promise<{ document_id: string; result: "created" | "replaced" | "unchanged" }>;
      remove(
        document: { document_id: string } | { collection: string; external_id: string },
      ): Promise<{ document_id: string | null; removed: boolean }>;
    };
    /** Files of the run, 4 MiB at most each. */
    readonly files: {
      /** Equal calls of a step save one file, whatever the attempt. */
      save(input: { name: string; mime_type?: string } & ({ text: string } | { base64: string })): Promise<SavedFile>;
      /** What the run was started with, and what its steps, the runs that it continues and those that it started have saved. */
      read(input: { file_id: string; as?: "text" | "base64" }): Promise<SavedFile & { content: string }>;
    };
    readonly tools: { call(name: string, args?: unknown): Promise<any> };
    log(...words: unknown[]): void;
  }

  export interface SavedFile {
    file_id: string;
    name: string;
    mime_type: string;
    bytes: number;
  }

  export interface Approval {
    approved: boolean;
    status: "approved" | "rejected" | "expired";
    /** The filled form. */
    data: any;
    comment: string | null;
    /** Ids of the files that came with the decision, for `ctx.files.read` in a step. Absent without any. */
    files?: string[];
    decided_by: { type: string; id: string } | null;
    decided_at: string;
    approval_id: string;
    /** All votes in their order, when `required` is more than 1. */
    votes?: {
      by: { type: string; id: string };
      decision: "approve" | "reject";
      data: any;
      comment: string | null;
      files?: string[];
      at: string;
    }[];
  }

  export interface ApprovalOptions {
    title: string;
    body?: string;
    /** JSON Schema of what the one who decides fills in. */
    form?: Record<string, unknown>;
    assignees?: ({ person: string } | { group: string } | { role: string })[];
    expires_in?: Duration;
    on_expiry?: "return" | "reject" | "fail";
    /** From then on it is the first in the inbox, and `ApprovalReminded` is published. */
    remind_after?: Duration;
    /** Further people, who may decide after that time. */
    escalate?: { after: Duration; to: ({ person: string } | { group: string } | { role: string })[] };
    /** Files of the run, at most 20, which those who decide see: what `ctx.files.save` returns, or ids. */
    attachments?: (string | { file_id: string })[];
    /** Equal votes that decide, 1 to 50; each person or key has one. Default: 1. */
    required?: number;
    /** Default: true. `false`: a rejection counts as a vote, and `required` of them reject. */
    one_rejection_ends?: boolean;
    self_approval?: boolean;
    api_key_may_decide?: boolean;
    key?: string;
  }

  export interface StartRunOptions {
    /** Tells starts apart that are otherwise equal. */
    key?: string;
    /** What becomes of the started run when this one fails or is cancelled; `cancel`. */
    on_parent_end?: "cancel" | "leave";
  }

  /** How a run ended, with the type of its result. `timed_out`: it had not ended in time. */
  export interface RunEnd<Result = any> {
    run_id: string;
    status: "completed" | "failed" | "cancelled" | "timed_out";
    result: Result;
    error: string | null;
  }

  /** `match`: values that top-level fields of the event's data must have. */
  export interface WaitForEventOptions {
    match?: Record<string, string | number | boolean | null>;
    timeout?: Duration;
    key?: string;
  }
  export type ReceivedEvent = { status: "received"; event_id: string; data: any } | { status: "timed_out" };

  /** What an agent has answered. */
  export interface AgentAnswer {
    response_id: string;
    /** Continues the conversation in a later call. */
    thread_id: string;
    output_text: string;
    usage: any;
  }

  interface CallOptions {
    /** Tells calls apart that are otherwise equal. */
    key?: string;
    /** `return`: the answer is `{ok, value}` or `{ok, error}`. */
    onError?: "fail" | "return";
  }

  export interface AgentOptions {
    /** `meta.vars` of its tools. */
    vars?: Record<string, unknown>;
    /** A thread of the same run to continue. */
    thread_id?: string;
    key?: string;
  }

  export interface RunContext {
    readonly runId: string;
    readonly args: any;
    /** Headers of the request that started the run, as far as its trigger names them; in lower case. */
    readonly headers: Readonly<Record<string, string>>;
    runStep(step: string | Function, args?: unknown, options?: CallOptions): Promise<any>;
    runStepMany(
      step: string | Function,
      items: unknown[],
      options?: CallOptions & { concurrency?: number },
    ): Promise<any[]>;
    awaitApproval(name: string, options: ApprovalOptions): Promise<Approval>;
    /** Starts a run of another workflow, once. `workflow`: its id or name. */
    startRun(workflow: string, args?: Record<string, unknown>, options?: StartRunOptions): Promise<{ run_id: string }>;
    /** `waitForRun<{ total: number }>(run)` says what the other workflow returns. */
    waitForRun<Result = any>(
      run: string | { run_id: string },
      options?: { timeout?: Duration; key?: string },
    ): Promise<RunEnd<Result>>;
    /** Waits for `POST /api/workflows/events` with this name. */
    waitForEvent(name: string, options?: WaitForEventOptions): Promise<ReceivedEvent>;
    /**
     * Asks an agent, by its id or name. The run waits without a worker, also while a person decides about a tool of the agent.
     * A turn that fails throws, with the line of the call; with `onError: "return"` it is a value.
     */
    agent(
      agent: string,
      input: string | { role: "user" | "assistant" | "system" | "developer"; content: string }[],
      options?: AgentOptions & { onError?: "fail" },
    ): Promise<AgentAnswer>;
    agent(
      agent: string,
      input: string | { role: "user" | "assistant" | "system" | "developer"; content: string }[],
      options: AgentOptions & { onError: "return" },
    ): Promise<{ ok: true; value: AgentAnswer } | { ok: false; error: { code: string; message: string } }>;
    sleep(time: Duration, options?: { key?: string }): Promise<void>;
    sleepUntil(time: string | Date, options?: { key?: string }): Promise<void>;
    /** Epoch milliseconds of when it was first asked. */
    now(label: string): number;
    uuid(label: string): string;
    log(...words: unknown[]): void;
    complete(result?: unknown): Promise<never>;
    /**
     * Ends this run. A new run continues it with these arguments and an empty history, for loops without an end. Whatever
     * waits for this run then waits for the new one.
     */
    continueAs(args?: Record<string, unknown>): Promise<never>;
  }

  /* The functions of RunContext can also be imported. */
  export const runStep: RunContext["runStep"];
  export const runStepMany: RunContext["runStepMany"];
  export const awaitApproval: RunContext["awaitApproval"];
  export const startRun: RunContext["startRun"];
  export const waitForRun: RunContext["waitForRun"];
  export const waitForEvent: RunContext["waitForEvent"];
  export const agent: RunContext["agent"];
  export const sleep: RunContext["sleep"];
  export const sleepUntil: RunContext["sleepUntil"];
  export const complete: RunContext["complete"];
  export const continueAs: RunContext["continueAs"];
  export const now: RunContext["now"];
  export const uuid: RunContext["uuid"];
  export const log: RunContext["log"];

  export function defineStep<A, R>(
    settings: StepSettings,
    step: (args: A, ctx: StepContext) => R | Promise<R>,
  ): (args: A, ctx: StepContext) => R | Promise<R>;
  /** Ends a step: no other attempt is made. */
  export class NonRetryableError extends Error {}
}

/* The same functions as globals, for modules that import nothing. */
declare const runStep: typeof import("svc:workflow").runStep;
declare const runStepMany: typeof import("svc:workflow").runStepMany;
declare const awaitApproval: typeof import("svc:workflow").awaitApproval;
declare const startRun: typeof import("svc:workflow").startRun;
declare const waitForRun: typeof import("svc:workflow").waitForRun;
declare const waitForEvent: typeof import("svc:workflow").waitForEvent;
declare const agent: typeof import("svc:workflow").agent;
declare const complete: typeof import("svc:workflow").complete;
declare const continueAs: typeof import("svc:workflow").continueAs;
declare const sleep: typeof import("svc:workflow").sleep;
declare const sleepUntil: typeof import("svc:workflow").sleepUntil;
declare const now: typeof import("svc:workflow").now;
declare const uuid: typeof import("svc:workflow").uuid;
declare const log: typeof import("svc:workflow").log;
declare const defineStep: typeof import("svc:workflow").defineStep;
declare const NonRetryableError: typeof import("svc:workflow").NonRetryableError;
