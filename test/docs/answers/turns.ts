import { fileForm } from "../../http/service.ts";
import type { Desk } from "./desk.ts";

const QUERY = "?user=customer-17";
const LABELS = { "x-labels": "team=support,feature=answers" };
const TOOLS = [{ type: "function", function: { name: "search_documents" } }];
const isListed = ({ data }: { data: unknown[] }) => data.length > 0;

/** A provider whose model searches first, where it may. */
function scriptModel({ provider }: Desk): void {
  const call = { name: "search_documents", arguments: { query: "refund" } };
  const answer = { text: "A refund takes five working days." };
  const hasSearched = (messages: { role: string }[]) => messages.some(({ role }) => role === "tool");
  provider.script(({ body }: any) => (body?.tools && !hasSearched(body.messages) ? { tool_calls: [call] } : answer));
}

/** A chat and an agent's response, and the items that they create. */
export async function askForTurns(desk: Desk): Promise<void> {
  const { ask, askUntil, tenant } = desk;
  const { key: by } = tenant;
  scriptModel(desk);
  await ask("get /api/openai/v1/models", { by });
  const { data } = await ask("get /api/keys");
  const owner = `?owner=key:${data.find(({ name }: { name: string }) => name !== "Website").id}`;
  const form = fileForm("A receipt.", "receipt.txt", { fields: { user: "customer-17" } });
  const file = await ask("post /api/openai/v1/files", { body: form, by });
  await ask("get /api/openai/v1/files", { query: QUERY, by });
  await ask("post /api/openai/v1/chat/completions", {
    body: { attachments: [file.id], tools: TOOLS },
    by,
    headers: LABELS,
  });
  const threads = await askUntil("get /api/threads", { query: owner }, isListed);
  const thread = { path: [threads.data[0].id], by, query: QUERY };
  await ask("get /api/openai/v1/threads/{id}/messages", thread);
  await askUntil("get /api/files", { query: owner }, isListed);
  await askForResponse(desk, owner);
  await askUntil("get /api/usage", {}, isListed);
  await askUntil("get /api/usage/labels", {}, isListed);
  await ask("delete /api/openai/v1/threads/{id}", thread);
  await ask("delete /api/openai/v1/files/{id}", { path: [file.id], by, query: QUERY });
}

async function askForResponse({ ask, askUntil, tenant }: Desk, owner: string): Promise<void> {
  const { key: by } = tenant;
  const { id: agent } = await ask("post /api/agents");
  await ask("get /api/agents");
  await ask("patch /api/agents/{id}", { path: [agent] });
  await ask("get /api/agents/{id}/versions", { path: [agent] });
  await ask("get /api/agents/{agent_id}/v1/models", { path: [agent], by });
  const response = await ask("post /api/agents/{agent_id}/v1/responses", { path: [agent], by });
  const one = { path: [agent, response.id], by, query: QUERY };
  await ask("get /api/agents/{agent_id}/v1/responses/{id}/input_items", one);
  await askUntil("get /api/responses", { query: owner }, isListed);
  await askUntil("get /api/turns", {}, isListed);
  await ask("get /api/turns/{id}/trace", { path: [response.id.replace("resp_", "")] });
  await ask("get /api/find", { query: `?id=${response.thread_id}` });
  await ask("get /api/find/names", { query: "?name=hand" });
  await ask("delete /api/agents/{agent_id}/v1/responses/{id}", one);
}
