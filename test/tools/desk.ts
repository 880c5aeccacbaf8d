import { clientOf, signIn, startService } from "../http/service.ts";

/** A service with one organization, and clients for its signed-in owner and its API key. */
export async function openDesk(env?: Record<string, string>) {
  const service = await startService(env);
  const { credentials } = service;
  const api = `${service.base}/api`;
  const signInAs = async ({ admin } = credentials) => (await signIn(service.base, admin)).call;
  const person = await signInAs();
  return {
    service,
    api,
    person,
    signIn: signInAs,
    /** Requests with the organization's API key. */
    key: clientOf({ chat: api }, credentials.api_key),
    define: (source: string, more: object = {}) => person("POST", "/definitions", { type: "tool", source, ...more }),
    /** Requests a chat completion. */
    complete: (body: object, headers?: Record<string, string>) =>
      clientOf(service, credentials.api_key)("POST", "/chat/completions", body, headers),
    /** A chat with offline/scripted, a model that follows the lines. */
    obey: (lines: string[], tools: string[], more: object = {}) =>
      clientOf(service, credentials.api_key)("POST", "/chat/completions", {
        model: "offline/scripted",
        messages: [{ role: "user", content: lines.join("\n") }],
        tools: tools.map((name) => ({ type: "function", function: { name } })),
        ...more,
      }),
  };
}
export type Desk = Awaited<ReturnType<typeof openDesk>>;

/** The source of a scripted tool. */
export const toolSource = (body: string, meta: object = {}) =>
  `export const meta = ${JSON.stringify({ description: "A tool", ...meta })};\nexport async function execute(args, { meta, secrets, fetch }) {\n${body}\n}\n`;
