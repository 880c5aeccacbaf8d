import { createClient } from "./client/client/index.ts";
import * as api from "./client/sdk.gen.ts";
import type {
  Agent,
  AgentResponse,
  Approval,
  ChatCompletion,
  ChatCompletionRequest,
  Document,
  Extraction,
  Key,
  Member,
  PostAgentsData,
} from "./client/types.gen.ts";
import { printFamilies, until, WORKFLOW, type Settings } from "./shared.ts";

/* Typed calls to every family, through what @hey-api/openapi-ts makes of the description. A wrong type in it is an error here. */

const { url, api_key, session }: Settings = JSON.parse(process.env["SETTINGS"]!);
const clientOf = (auth: string) => createClient({ baseUrl: url, auth, throwOnError: true });
const [product, person] = [clientOf(api_key), clientOf(session)];
/** Options of calls: with the key, and with the session. Failures are thrown. */
const byKey = { client: product, throwOnError: true } as const;
const bySession = { client: person, throwOnError: true } as const;

async function chat() {
  const body = { model: "offline/echo", messages: [{ role: "user", content: "Hello" }], user: "bob" };
  const { data, response } = await api.postOpenaiChatCompletions({ ...byKey, body });
  const completion: ChatCompletion = data;
  const { content, refusal } = completion.choices[0]!.message;
  const texts: [string, string | null, number] = [content, refusal, completion.usage.total_tokens];
  const reason: "stop" | "length" | "content_filter" | "tool_calls" = completion.choices[0]!.finish_reason;
  const id = response.headers.get("x-thread-id")!;
  const { data: messages } = await api.getOpenaiThreadsByIdMessages({ ...byKey, path: { id }, query: { user: "bob" } });
  const roles: string[] = messages.data.map(({ role }) => role);
  // @ts-expect-error a model is a string
  const wrongModel: ChatCompletionRequest = { model: 1, messages: [] };
  // @ts-expect-error content is text
  const wrongContent: number = content;
  void [wrongModel, wrongContent];
  return { texts: [texts[0], texts[1], texts[2] > 0], reason, roles };
}

async function files() {
  const { data: uploaded } = await api.postOpenaiFiles({
    ...byKey,
    body: { file: new File(["A note."], "note.txt"), purpose: "user_data" },
  });
  const path = { id: uploaded.id };
  const { data: read } = await api.getOpenaiFilesById({ ...byKey, path });
  const { data: content } = await api.getOpenaiFilesByIdContent({ ...byKey, path, parseAs: "blob" });
  const bytes: Blob | File = content;
  const listed = (await api.getOpenaiFiles(byKey)).data.data.map(({ id }) => id === uploaded.id);
  const { deleted } = (await api.deleteOpenaiFilesById({ ...byKey, path })).data;
  // @ts-expect-error a size is a number
  const wrong: string = read.bytes;
  void wrong;
  return { name: read.filename, content: await bytes.text(), listed: listed.includes(true), deleted };
}

async function models() {
  const ids: string[] = (await api.getOpenaiModels(byKey)).data.data.map(({ id }) => id);
  const { data: one } = await api.getOpenaiModelsById({ ...byKey, path: { id: "offline/echo" } });
  // @ts-expect-error an id is text
  const wrong: number = one.id;
  void wrong;
  return { listed: ids.includes("offline/echo"), one: one.object };
}

async function agents() {
  const created = await api.postAgents({ ...bySession, body: { name: "Echo", model: "offline/echo" } });
  const agent: Agent = created.data;
  const path = { agent_id: agent.id };
  const answered = await api.postAgentsByAgentIdResponses({ ...byKey, path, body: { input: "Good morning" } });
  const response: AgentResponse = answered.data;
  const text = response.output.flatMap((item) =>
    item.type === "message" ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : [])) : [],
  );
  const read = await api.getAgentsByAgentIdResponsesById({ ...byKey, path: { ...path, id: response.id } });
  const { id, status } = read.data;
  const changed = await api.patchAgentsById({
    ...bySession,
    path: { id: agent.id },
    body: { instructions: "Be kind." },
  });
  // @ts-expect-error an agent needs a name
  const wrong: PostAgentsData["body"] = { model: "offline/echo" };
  void wrong;
  return { text, same: id === response.id, status, version: changed.data.version };
}

async function knowledge() {
  const { slug } = (await api.postKnowledgeCollections({ ...byKey, body: { name: "Hey API" } })).data;
  const path = { reference: slug };
  const pushed = await api.postKnowledgeCollectionsByReferenceDocumentsText({
    ...byKey,
    path,
    body: { text: "The refund takes thirty days.", name: "refunds.md", tags: ["policy"] },
  });
  const { id }: Document = pushed.data;
  await until(async () => (await api.getKnowledgeDocumentsById({ ...byKey, path: { id } })).data.status === "ready");
  const search = await api.postKnowledgeSearch({ ...byKey, body: { query: "refund", collections: [slug] } });
  const names: string[] = search.data.results.map(({ document }) => document.name);
  const citations = [{ document_id: pushed.data.id, seq: 0 }];
  const check = await api.postKnowledgeVerify({ ...byKey, body: { answer: "A refund takes thirty days.", citations } });
  if (check.data.supported !== 1) throw new Error("the answer is supported");
  const query = { status: "ready" } as const;
  const { total } = (await api.getKnowledgeCollectionsByReferenceDocuments({ ...byKey, path, query })).data;
  // @ts-expect-error a status that does not exist
  const wrong: "lost" = pushed.data.status;
  void wrong;
  return { names, total };
}

async function extraction() {
  const { data } = await api.postExtractions({ ...byKey, body: { file: new File(["# By Hey API"], "a.md") } });
  const read = async (): Promise<Extraction> =>
    (await api.getExtractionsById({ ...byKey, path: { id: data.id } })).data;
  await until(async () => (await read()).status === "ready");
  const { markdown } = await read();
  // @ts-expect-error it may be missing
  const wrong: string = markdown;
  void wrong;
  return { markdown: markdown?.trim() };
}

async function workflows() {
  const body = { type: "workflow", name: "by_hey_api", source: WORKFLOW } as const;
  const { data: definition } = await api.postDefinitions({ ...bySession, body });
  const registered = await api.postWorkflows({
    ...bySession,
    body: { definition_id: definition.id, envelope: { egress: [] } },
  });
  const path = { id: registered.data.id };
  const { data: started } = await api.postWorkflowsByIdRuns({ ...byKey, path, body: { args: { amount: 7 } } });
  const status: "pending" = started.status;
  const { data: trigger } = await api.postWorkflowsByIdTriggers({ ...bySession, path, body: { name: "Hook" } });
  const signed = { name: "Signed", verify: { scheme: "hmac", secret: "12345678", header: "x-signature" } } as const;
  const { verify } = (await api.postWorkflowsByIdTriggers({ ...bySession, path, body: signed })).data;
  const scheme: string | undefined = verify?.scheme;
  // @ts-expect-error a type that does not exist
  const wrong: "script" = definition.type;
  void wrong;
  return { run_id: started.id, status, trigger, scheme, steps: Object.keys(definition.workflow?.steps ?? {}) };
}

async function approvals(run_id: string) {
  const find = async (): Promise<Approval[]> =>
    (await api.getWorkflowsRunsByRunIdApprovals({ ...bySession, path: { run_id } })).data.data;
  await until(async () => (await find()).length === 1);
  const [approval] = await find();
  const path = { approval_id: approval!.id };
  const body = { decision: "approve", comment: "Fine." } as const;
  const { data } = await api.postWorkflowsApprovalsByApprovalIdDecision({ ...bySession, path, body });
  const decided: Approval = data;
  const decision: "approve" | "reject" | null = decided.decision;
  // @ts-expect-error a decision that does not exist
  const wrong: "perhaps" = decided.decision;
  void wrong;
  return { title: approval!.title, status: decided.status, decision, comment: decided.comment };
}

async function runs(run_id: string) {
  const read = async () =>
    (await api.getWorkflowsRunsByRunId({ ...bySession, path: { run_id }, query: { wait: "10" } })).data;
  await until(async () => (await read()).status === "completed");
  const { result, steps, counts } = await read();
  const { data } = (await api.getWorkflowsRuns({ ...bySession, query: { limit: "5" } })).data;
  // @ts-expect-error a count is a number
  const wrong: string = counts.ticks;
  void wrong;
  return {
    result,
    steps: steps.map(({ name, status }) => [name, status]),
    listed: data.some(({ id }) => id === run_id),
  };
}

async function hooks(hook_token: string, secret: string) {
  const byHook = { client: clientOf(secret), throwOnError: true } as const;
  const started = (await api.postWorkflowsHooksByHookToken({ ...byHook, path: { hook_token }, body: { amount: 1 } }))
    .data;
  if (!("run_id" in started)) throw new Error("no run");
  const run_id: string = started.run_id;
  const polled = await api.getWorkflowsHooksByHookTokenRunsByRunId({ ...byHook, path: { hook_token, run_id } });
  // @ts-expect-error a status that does not exist
  const wrong: "lost" = polled.data.status;
  void wrong;
  return { same: polled.data.run_id === run_id, started: "status_url" in started };
}

async function keys() {
  const created = (await api.postKeys({ ...bySession, body: { name: "By Hey API", products: ["knowledge"] } })).data;
  const shown: string | undefined = created.key;
  const path = { id: created.id };
  const changed: Key = (await api.patchKeysById({ ...bySession, path, body: { enabled: false } })).data;
  await api.deleteKeysById({ ...bySession, path });
  const { total } = (await api.getKeys(bySession)).data;
  // @ts-expect-error a product that does not exist
  const wrong: "email"[] = created.products;
  void wrong;
  return { shown: shown !== undefined, enabled: changed.enabled, several: total > 0 };
}

async function members() {
  const body = { name: "Bob", email: "bob.hey@example.org", role: "viewer" } as const;
  const { id, role } = (await api.postMembers({ ...bySession, body })).data;
  const member: Member = (await api.getMembersById({ ...bySession, path: { id } })).data;
  // @ts-expect-error a role that does not exist
  const wrong: "king" = member.role;
  void wrong;
  return { role, email: member.email };
}

async function usage() {
  const { totals, group_by } = (await api.getUsage({ ...bySession, query: { group_by: "model" } })).data;
  const turns: number = totals.turns;
  // @ts-expect-error a grouping that does not exist
  const wrong: "week" = group_by;
  void wrong;
  return { group_by, several: turns > 0 };
}

async function events() {
  const { data, has_more } = (await api.getEvents({ ...bySession, query: { type: "TurnStarted" } })).data;
  const types: string[] = data.map(({ type }) => type);
  // @ts-expect-error it is a boolean
  const wrong: string = has_more;
  void wrong;
  return { types: [...new Set(types)] };
}

async function operations() {
  const { ready, processes } = (await api.getHealth(bySession)).data;
  const roles: string[] = processes.map(({ role }) => role);
  const { data } = (await api.getDeadLetters(bySession)).data;
  const kinds: ("command" | "reaction")[] = data.map(({ kind }) => kind);
  // @ts-expect-error it is a boolean
  const wrong: string = ready;
  void wrong;
  return { several: roles.length > 0, kinds };
}

async function errors() {
  const body = { model: "nobody/none", messages: [{ role: "user", content: "A" }] };
  const { data, error, response } = await api.postOpenaiChatCompletions({ client: product, throwOnError: false, body });
  const code: string | null | undefined = error?.error.code;
  return { data: data === undefined, status: response?.status, code };
}

await printFamilies(
  { workflows, approvals, runs, hooks },
  { chat, files, models, agents, knowledge, extraction, keys, members, usage, events, operations, errors },
);
