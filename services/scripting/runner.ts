/* The port to the running of an organization's own code; infra/scripts runs it where it can do no harm. */

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

/** What a script may ask of the outside. A rejection is thrown to the script with its message. */
export interface ScriptHost {
  fetch(request: ScriptRequest, signal: AbortSignal): Promise<ScriptResponse>;
  secret(name: string): Promise<string>;
}

export interface ScriptCall {
  /** Whose it is: tenants take turns. */
  organization_id: string;
  /** JavaScript module that exports `execute(args, { meta, secrets, fetch })`. */
  js: string;
  args: unknown;
  /** What the script is told of its call; `vars` come from the request. */
  meta: Record<string, unknown>;
  host: ScriptHost;
  signal: AbortSignal;
}

/** The script failed, or asked for more than it may have. The message is for the one who wrote it; `line` and `column` count from 1. */
export class ScriptFailed extends Error {
  readonly line: number | null;
  readonly column: number | null;
  constructor(message: string, line: number | null = null, column: number | null = null) {
    super(message);
    this.name = "ScriptFailed";
    this.line = line;
    this.column = column;
  }
}

export type ScriptType = "tool" | "workflow";

/** What a module says of itself, not checked. */
export interface Inspected {
  /** What runs: the source without its types, line by line the same. */
  js: string;
  meta: unknown;
  /** Where it exports `meta`: line and column. */
  meta_at: [line: number, column: number] | null;
  /** Whether it exports a function `execute`. */
  executes: boolean;
  /** Of a workflow. */
  workflow?: {
    /** Whether it exports a function `run`. */
    runs: boolean;
    /** Its steps; `place`: line and column. Null: its `steps` are no object. */
    steps:
      | { name: string; callable: boolean; settings: unknown; place: [line: number, column: number] | null }[]
      | null;
    lint: { code: string; message: string; line: number; column: number }[];
    /** Whether code outside of the steps may catch what suspends `run()`. */
    catches: boolean;
  };
}

export interface ScriptRunner {
  /** What `execute` came to, as JSON. Throws ScriptFailed; throws the signal's reason when it is aborted. */
  run(call: ScriptCall): Promise<string>;
  /** Compiles a TypeScript or JavaScript module and evaluates it. Throws ScriptFailed. */
  inspect(organization_id: string, source: string, type?: ScriptType): Promise<Inspected>;
  close(): Promise<void>;
}
