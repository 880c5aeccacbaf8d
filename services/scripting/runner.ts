/* The port to the sandbox for scripted tools; infra/sandbox implements it. */

export interface ScriptRequest {
  url: string;
  method: string;
  headers: [string, string][];
  body: string | null;
}

export interface ScriptResponse {
  status: number;
  headers: [string, string][];
  /** Decoded as UTF-8. */
  body: string;
}

/** The functions that a script can call. A rejection is thrown in the script with its message. */
export interface ScriptHost {
  fetch(request: ScriptRequest, signal: AbortSignal): Promise<ScriptResponse>;
  secret(name: string): Promise<string>;
}

export interface ScriptCall {
  /** Organizations take turns at the runner. */
  organization_id: string;
  /** JavaScript module that exports `execute(args, { meta, secrets, fetch })`. */
  js: string;
  args: unknown;
  /** The script's `meta` argument; `vars` come from the request. */
  meta: Record<string, unknown>;
  host: ScriptHost;
  signal: AbortSignal;
}

/** The script failed or exceeded a limit. The message is for its author; `line` and `column` count from 1. */
export class ScriptError extends Error {
  readonly line: number | null;
  readonly column: number | null;
  constructor(message: string, line: number | null = null, column: number | null = null) {
    super(message);
    this.name = "ScriptError";
    this.line = line;
    this.column = column;
  }
}

export type ScriptType = "tool" | "workflow";

/** What a module exports, without validation. */
export interface ScriptInspection {
  /** The source without its types; lines keep their numbers. */
  js: string;
  meta: unknown;
  /** Line and column of the export `meta`. */
  meta_at: [line: number, column: number] | null;
  /** Line and column of the fields that are written in it. */
  meta_fields: Record<string, [line: number, column: number]>;
  /** Whether it exports a function `execute`. */
  executes: boolean;
  /** For workflows. */
  workflow?: {
    /** Whether it exports a function `run`. */
    runs: boolean;
    /** `place`: line and column. Null when the export `steps` is no object. */
    steps:
      | { name: string; callable: boolean; settings: unknown; place: [line: number, column: number] | null }[]
      | null;
    lint: { code: string; message: string; line: number; column: number }[];
    /** Invalid options of calls. */
    wrong_options: { message: string; line: number; column: number }[];
    /** Whether code outside of the steps can catch the signal that suspends `run()`. */
    catches: boolean;
    /** Whether the answers must reach `run()` in the order of the log (ADR 58). */
    ordered: boolean;
  };
}

export interface ScriptRunner {
  /** Resolves with the result of `execute` as JSON. Throws ScriptError, or the signal's reason. */
  run(call: ScriptCall): Promise<string>;
  /** Compiles a TypeScript or JavaScript module and evaluates it. Throws ScriptError. */
  inspect(organization_id: string, source: string, type?: ScriptType): Promise<ScriptInspection>;
  close(): Promise<void>;
}
