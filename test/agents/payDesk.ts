import { expect } from "vitest";
import { SOON } from "../soon.ts";
import { openSite } from "../tools/site.ts";
import { toolSource } from "../tools/desk.ts";
import { agentClient, signIn, startAgents, type AgentClient } from "./agents.ts";

/** Reading responses. */
export const responses = {
  read: async (agent: AgentClient, id: string) => (await agent.call("GET", `/responses/${id}`)).body,
  async ended(agent: AgentClient, id: string) {
    await expect.poll(async () => (await responses.read(agent, id)).status, SOON).not.toBe("in_progress");
    return responses.read(agent, id);
  },
};

/** A platform with the tool `pay`, which requests the path /paid of a site, and people with roles. */
export async function openPayDesk(env: Record<string, string> = {}) {
  let answer = () => Promise.resolve();
  const site = await openSite((_, response) => void answer().then(() => response.end('{"paid":true}')));
  const agents = await startAgents({ PRIVATE_FETCH_HOSTS: site.host, ...env });
  const { person, api_key, url } = agents;
  const source = toolSource(`const answer = await fetch("${site.url}/paid/" + args.to); return answer.json();`);
  const made = await person.call("POST", "/definitions", { type: "tool", name: "pay", source });
  if (made.status !== 201) throw new Error(made.text);
  return {
    ...agents,
    site,
    /** Sets what the site does before it answers. */
    answers: (next: () => Promise<void>) => void (answer = next),
    /** Number of the tool's payments to a person. */
    paid: (to: string) => site.paths.filter((path) => path === `/paid/${to}`).length,
    /** An agent whose calls of `pay` wait for a person. */
    async payer(rule: unknown = "always", more: object = {}, token = api_key) {
      const id = await agents.agent({ tools: ["pay"], tool_approvals: { pay: rule }, ...more });
      return { id, ...agentClient(url, token, id) };
    },
    async member(role: string) {
      const email = `${role}.${crypto.randomUUID()}@example.org`;
      const { body } = await person.call("POST", "/members", { email, name: role, role });
      return { id: body.id as string, email, ...(await signIn(url, { email, password: body.password })) };
    },
    /** The pending approvals of a response, oldest first. */
    async waiting(response_id: string, by = person): Promise<any[]> {
      const { body } = await by.call("GET", "/workflows/approvals?status=pending&limit=500");
      return body.data.filter(({ tool_call }: any) => tool_call?.response_id === response_id);
    },
    /** Starts a streamed response and leaves it once its calls wait. */
    async startWaiting(agent: AgentClient, input: string) {
      const opened = (seen: any[]) => seen.some(({ type }) => type === "response.function_call_arguments.done");
      const seen = await agent.some("/responses", { input, stream: true }, opened);
      const { id, thread_id } = seen[0].response;
      await expect.poll(async () => (await this.waiting(id)).length, SOON).toBeGreaterThan(0);
      return { id: id as string, thread_id: thread_id as string, approvals: await this.waiting(id), seen };
    },
    decide: (id: string, decision: "approve" | "reject", comment?: string, by: { call: typeof person.call } = person) =>
      by.call("POST", `/workflows/approvals/${id}/decision`, { decision, ...(comment && { comment }) }),
  };
}
export type Payer = Awaited<ReturnType<PayDesk["payer"]>>;
export type PayDesk = Awaited<ReturnType<typeof openPayDesk>>;

/** A prompt with which the scripted model pays these people and then answers. */
export const payTo = (...names: string[]) =>
  [...names.map((to) => `/tool pay ${JSON.stringify({ to, amount: 100 })}`), "/say Done."].join("\n");
