import { expect } from "vitest";
import { startDeployment } from "../clients/deployment.ts";
import { clientOf, signIn } from "../http/service.ts";
import { eventsIn, expectNumbered, expectStream } from "./grammar.ts";
import { expectOpenResponse } from "./openResponses.ts";

export { signIn };

/** A scripted tool that returns its arguments, or fails on request. */
const SOURCE = `
export const meta = {
  description: "Returns its arguments.",
  parameters: { type: "object", properties: { text: { type: "string" }, fail: { type: "boolean" } } },
  secrets: [],
};
export async function execute(args: { text?: string; fail?: boolean }, { meta }: { meta: { vars: object } }) {
  if (args.fail) throw new Error("failed on request");
  return { text: args.text ?? null, vars: meta.vars };
}`;
export const TOOL = "repeat";

interface AgentAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

/** Calls one agent with one credential, at the http process `url`. */
export function agentClient(url: string, token: string, agent_id: string) {
  const base = `${url}/api/agents/${agent_id}/v1`;
  const call = clientOf({ chat: base }, token);
  const post = (body: object, headers?: Record<string, string>): Promise<AgentAnswer> =>
    call("POST", "/responses", body, headers);
  return {
    base,
    call,
    post,
    /** Gets a buffered response, which must be a 200. */
    async ask(input: unknown, more: object = {}, headers?: Record<string, string>): Promise<any> {
      const { status, body, text } = await post({ input, ...more }, headers);
      expect(status, text).toBe(200);
      expectOpenResponse(body);
      return body;
    },
    /** Gets all events of a streamed response, and the final response. */
    async stream(input: unknown, more: object = {}, headers?: Record<string, string>) {
      const answer = await post({ input, stream: true, ...more }, headers);
      expect(answer.headers.get("content-type"), answer.text).toBe("text/event-stream; charset=utf-8");
      const events = eventsIn(answer.text);
      return { events, response: expectStream(events), headers: answer.headers };
    },
    /** Reads a stream again, after an event. */
    async resume(id: string, after = -1): Promise<any[]> {
      const query = after < 0 ? "stream=true" : `stream=true&starting_after=${after}`;
      const { text } = await call("GET", `/responses/${id}?${query}`);
      const events = eventsIn(text);
      expectNumbered(events, after + 1);
      return events;
    },
    /** Reads events until `enough` is true, then disconnects. */
    async some(path: string, body: object | undefined, enough: (events: any[]) => boolean): Promise<any[]> {
      const cut = new AbortController();
      const answer = await fetch(base + path, {
        method: body ? "POST" : "GET",
        headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: cut.signal,
      });
      let text = "";
      const whole = () => eventsIn(text.slice(0, text.lastIndexOf("\n\n") + 2));
      expect(answer.status).toBe(200);
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes("\n\n") && enough(whole())) break;
      }
      cut.abort();
      return whole();
    },
  };
}
export type AgentClient = ReturnType<typeof agentClient>;

type Person = Awaited<ReturnType<typeof signIn>>;

export async function makeTool({ call }: Person): Promise<void> {
  const { status, text } = await call("POST", "/definitions", { type: "tool", name: TOOL, source: SOURCE });
  expect(status, text).toBe(201);
}

/** A platform with a provider, an organization, a scripted tool, and a person who creates agents. */
export async function startAgents(env?: Record<string, string>) {
  const deployment = await startDeployment(env);
  const { platform, api_key, admin } = deployment;
  const person = await signIn(platform.url, admin);
  await makeTool(person);

  /** Creates an agent, and returns its id. */
  const agent = async (settings: object = {}): Promise<string> => {
    const { status, body, text } = await person.call("POST", "/agents", {
      name: "A",
      model: "offline/scripted",
      ...settings,
    });
    expect(status, text).toBe(201);
    return body.id;
  };
  return {
    ...deployment,
    url: platform.url,
    db: platform.resources.db,
    person,
    agent,
    /** Creates an agent, and returns a client for it. */
    async open(settings: object = {}, token = api_key): Promise<AgentClient> {
      return agentClient(platform.url, token, await agent(settings));
    },
    /** Creates a project, and returns its id. */
    project: async (): Promise<string> => (await person.call("POST", "/projects", { name: "P" })).body.id,
    /** Creates another key of the organization. */
    async key(body: object = {}): Promise<{ id: string; key: string }> {
      return (await person.call("POST", "/keys", { name: "K", ...body })).body;
    },
  };
}
export type Agents = Awaited<ReturnType<typeof startAgents>>;
