import { clientOf, startService } from "../http/service.ts";

/** The service with one organization, its owner signed in, and short ways to what scripts need. */
export async function openDesk(env: Record<string, string> = {}) {
  const service = await startService(env);
  const { credentials } = service;
  const api = `${service.base}/api`;
  const signIn = async ({ admin } = credentials) => {
    const { body } = await clientOf(service, "none")("POST", `${api}/auth/login`, admin);
    return clientOf({ chat: api }, body.token);
  };
  const person = await signIn();
  return {
    service,
    api,
    person,
    signIn,
    /** With the organization's API key. */
    key: clientOf({ chat: api }, credentials.api_key),
    /** While `work` runs the owner has another role. */
    async as(role: string, work: () => Promise<void>) {
      const change = (to: string) =>
        service.db.query("update read.users set role = $2 where organization_id = $1", [
          credentials.organization_id,
          to,
        ]);
      await change(role);
      try {
        await work();
      } finally {
        await change("owner");
      }
    },
    define: (source: string, more: object = {}) => person("POST", "/definitions", { type: "tool", source, ...more }),
    /** What a chat completion came to. */
    complete: (body: object, headers?: Record<string, string>) =>
      clientOf(service, credentials.api_key)("POST", "/chat/completions", body, headers),
    /** A chat with offline/scripted, which obeys the lines. */
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

/** A scripted tool's source. */
export const toolOf = (body: string, meta: object = {}) =>
  `export const meta = ${JSON.stringify({ description: "A tool", ...meta })};\nexport async function execute(args, { meta, secrets, fetch }) {\n${body}\n}\n`;
