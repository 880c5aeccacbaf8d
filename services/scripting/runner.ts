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
  /** JavaScript module that exports `execute(args, { meta, secrets, fetch, log })`. */
  js: string;
  args: unknown;
  /** What the script is told of its call; `vars` come from the request. */
  meta: Record<string, unknown>;
  host: ScriptHost;
  signal: AbortSignal;
}

/** The script failed, or asked for more than it may have. The message is for the one who wrote it; `line` counts from 1. */
export class ScriptFailed extends Error {
  readonly line: number | null;
  constructor(message: string, line: number | null = null) {
    super(message);
    this.name = "ScriptFailed";
    this.line = line;
  }
}

export interface ScriptRunner {
  /** What `execute` came to, as JSON. Throws ScriptFailed; throws the signal's reason when it is aborted. */
  run(call: ScriptCall): Promise<string>;
  /** Evaluates a module and answers with its `meta` export, as JSON. Throws ScriptFailed. */
  inspect(js: string): Promise<string>;
  close(): Promise<void>;
}
