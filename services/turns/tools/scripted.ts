import type { ScriptMeta } from "#events/definition.ts";
import { ScriptFailed, type ScriptRunner } from "../../scripting/runner.ts";
import { ToolError, type Calling, type Tool } from "./tool.ts";

/** A tool that an organization wrote itself, as it was saved last. */
export interface ScriptedTool {
  name: string;
  version: number;
  meta: ScriptMeta;
  /** Secrets that it may have. */
  grants: string[];
  js: string;
}

/** What scripted tools work with; roles/ hands it over. */
export interface Scripts {
  /** The organization's own tools with these names. */
  find(organization: string, names: string[]): Promise<ScriptedTool[]>;
  /** A secret's value; undefined where none is set. */
  secret(organization: string, name: string): Promise<string | undefined>;
  run: ScriptRunner["run"];
  fetch(
    url: string,
    init: RequestInit,
    signal: AbortSignal,
  ): Promise<{ status: number; headers: Headers; text: string }>;
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** What a script is told of where it runs; nothing that names another tenant or a credential. */
const metaOf = ({ vars, user, thread_id, turn_id }: Calling) => ({ vars, user, thread_id, response_id: turn_id });

/**
 * The secret, where the script asks for it in its meta and a builder has granted it; looked up when it is asked for, because
 * a turn may last and a grant be taken back meanwhile. The reason is for the script's author.
 */
async function secretFor(scripts: Scripts, tool: ScriptedTool, organization: string, name: string): Promise<string> {
  if (!tool.meta.secrets.includes(name))
    throw new Error(`The script does not name the secret ${name} in meta.secrets.`);
  const [now] = await scripts.find(organization, [tool.name]);
  if (!now?.grants.includes(name)) throw new Error(`The secret ${name} is not granted to this script.`);
  const value = await scripts.secret(organization, name);
  if (value === undefined) throw new Error(`The secret ${name} is not set.`);
  return value;
}

/** What a script was told in confidence is told to no model. Shorter values are no secrets, and stand in every text. */
const SHORTEST = 6;
function withoutSecrets(text: string, secrets: Iterable<string>): string {
  let left = text;
  for (const secret of secrets)
    if (secret.length >= SHORTEST)
      left = left.replaceAll(JSON.stringify(secret).slice(1, -1), "***").replaceAll(secret, "***");
  return left;
}

/** A tool of the organization's own: its code runs where it can do no harm, and what it returns is told to the model as JSON. */
export const scriptedTool = (scripts: Scripts, tool: ScriptedTool): Tool => ({
  name: tool.name,
  description: tool.meta.description,
  parameters: tool.meta.parameters,
  async run(args, calling) {
    const { organization_id, signal } = calling;
    const told = new Set<string>();
    try {
      const json = await scripts.run({
        organization_id,
        js: tool.js,
        args,
        meta: metaOf(calling),
        signal,
        host: {
          async secret(name) {
            const value = await secretFor(scripts, tool, organization_id, name);
            told.add(value);
            return value;
          },
          async fetch({ url, method, headers, body }, cut) {
            if (!METHODS.has(method)) throw new Error(`fetch: the method ${method.slice(0, 20)} is not allowed.`);
            const answer = await scripts.fetch(url, { method, headers, ...(body !== null && { body }) }, cut);
            return { status: answer.status, headers: [...answer.headers], body: answer.text };
          },
        },
      });
      return { text: withoutSecrets(json, told), sources: [] };
    } catch (error) {
      if (!(error instanceof ScriptFailed)) throw error;
      const line = error.line === null ? "" : ` (line ${error.line})`;
      throw new ToolError(withoutSecrets(`${error.message}${line}`, told), { cause: error });
    }
  },
});
