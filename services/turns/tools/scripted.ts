import type { ScriptMeta } from "#events/definition.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import { createRedactor, type Redactor } from "../../redaction/redactor.ts";
import { ScriptError, type ScriptHost, type ScriptRunner } from "../../scripting/runner.ts";
import { ToolError, withoutNulls, type ScriptUse, type Tool, type ToolContext } from "./tool.ts";

/** The newest version of a tool written by an organization. */
export interface ScriptedTool {
  name: string;
  version: number;
  meta: ScriptMeta;
  /** Names of the secrets that builders granted to it. */
  grants: string[];
  js: string;
}

/** What scripted tools need; roles/ provides it. */
export interface ScriptedTools {
  /** The organization's own tools with these names. */
  find(organization: string, names: string[]): Promise<ScriptedTool[]>;
  /** Whether a run has not ended. */
  isRunLive(run_id: string): Promise<boolean>;
  /** A secret's value; undefined when it is not set. */
  secret(organization: string, name: string): Promise<string | undefined>;
  run: ScriptRunner["run"];
  /** Checks arguments against the parameters of a tool. */
  check: SchemaChecker["check"];
  fetch(
    url: string,
    init: RequestInit,
    signal: AbortSignal,
  ): Promise<{ status: number; headers: Headers; text: string }>;
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** The script's `meta` argument. It names no tenant and no credential. */
const scriptMeta = ({ vars, user, thread_id, turn_id }: ToolContext) => ({
  vars,
  user,
  thread_id,
  response_id: turn_id,
});

/**
 * Reads a secret that the script's meta declares and a builder granted. Checks the grant at every use, because a grant can be
 * revoked during a turn. The messages are for the script's author.
 */
async function readSecret(
  scripts: ScriptedTools,
  tool: ScriptedTool,
  { organization_id: organization, run_id }: ToolContext,
  name: string,
): Promise<string> {
  if (!tool.meta.secrets.includes(name))
    throw new Error(`The script does not name the secret ${name} in meta.secrets.`);
  const [current] = await scripts.find(organization, [tool.name]);
  if (!current?.grants.includes(name)) throw new Error(`The secret ${name} is not granted to this script.`);
  // read after the grant: after a cancellation is acknowledged, no secret may be read
  if (run_id !== null && !(await scripts.isRunLive(run_id)))
    throw new Error("The run has ended: its tools can read no more secrets.");
  const value = await scripts.secret(organization, name);
  if (value === undefined) throw new Error(`The secret ${name} is not set.`);
  return value;
}

/** The arguments for the script. Throws a ToolError if they do not match its parameters, which the model can correct. */
async function checkArguments(scripts: ScriptedTools, { meta }: ScriptedTool, organization: string, args: unknown) {
  const { parameters } = meta;
  const violation = await scripts.check(organization, parameters, args);
  if (!violation) return args;
  const named = withoutNulls(args);
  if (!(await scripts.check(organization, parameters, named))) return named;
  throw new ToolError(`The arguments do not fit: ${violation.pointer || "/"}: ${violation.message}`);
}

/** The functions that the script can call. Adds each secret it reads to the redactor. */
const scriptHost = (
  scripts: ScriptedTools,
  tool: ScriptedTool,
  context: ToolContext,
  redactor: Redactor,
): ScriptHost => ({
  async secret(name) {
    const value = await readSecret(scripts, tool, context, name);
    redactor.add(name, value);
    return value;
  },
  async fetch({ url, method, headers, body }, signal) {
    if (!METHODS.has(method)) throw new Error(`fetch: the method ${method.slice(0, 20)} is not allowed.`);
    const response = await scripts.fetch(url, { method, headers, ...(body !== null && { body }) }, signal);
    return { status: response.status, headers: [...response.headers], body: response.text };
  },
});

/** A tool written by the organization. Its code runs in the sandbox; the model reads its result as JSON. */
export const scriptedTool = (scripts: ScriptedTools, tool: ScriptedTool): Tool => ({
  name: tool.name,
  description: tool.meta.description,
  parameters: tool.meta.parameters,
  async run(input, context) {
    const { organization_id, signal } = context;
    const redactor = createRedactor();
    const used = (): ScriptUse => ({ tool_version: tool.version, secrets: redactor.names() });
    try {
      const json = await scripts.run({
        organization_id,
        js: tool.js,
        args: await checkArguments(scripts, tool, organization_id, input),
        meta: scriptMeta(context),
        signal,
        host: scriptHost(scripts, tool, context, redactor),
      });
      return { text: await redactor.json(json), sources: [], script: used() };
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      const column = error.column === null ? "" : `, column ${error.column}`;
      const place = error.line === null ? "" : ` (line ${error.line}${column})`;
      const message = await redactor.text(`${error.message}${place}`);
      throw new ToolError(message, { cause: error, script: used() });
    }
  },
});
