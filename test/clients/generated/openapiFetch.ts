import createClient from "openapi-fetch";
import type { components, paths } from "./client/schema.ts";
import { formOf, printFamilies, until, WORKFLOW, type Settings } from "./shared.ts";

/* Typed calls to every family, through what openapi-typescript makes of the description. A wrong type in it is an error here. */

type Schemas = components["schemas"];
type Body<P extends "/api/agents" | "/api/members" | "/api/workflows/{id}/triggers"> =
  paths[P]["post"]["requestBody"]["content"]["application/json"];
type Query<P extends "/api/usage" | "/api/v1/knowledge/collections/{reference}/documents"> =
  paths[P]["get"]["parameters"]["query"];

const { url, api_key, session }: Settings = JSON.parse(process.env["SETTINGS"]!);
const clientOf = (token: string) =>
  createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${token}` } });
const [product, person] = [clientOf(api_key), clientOf(session)];
const anyone = createClient<paths>({ baseUrl: url });

/** The data of an answer that must be a success. */
function done<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): Exclude<T, undefined> {
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
  return data as Exclude<T, undefined>;
}

/** The data of an operation that could also have streamed: a stream is text. */
const whole = <T>(data: T): Exclude<T, string> => {
  if (typeof data === "string") throw new Error("a stream");
  return data as Exclude<T, string>;
};

async function chat() {
  const body = { model: "offline/echo", messages: [{ role: "user", content: "Hello" }], user: "ann" };
  const answer = await product.POST("/api/openai/v1/chat/completions", { body });
  const completion = whole(done(answer));
  const { content, refusal } = completion.choices[0]!.message;
  const texts: [string, string | null, number] = [content, refusal, completion.usage.total_tokens];
  const reason: "stop" | "length" | "content_filter" | "tool_calls" = completion.choices[0]!.finish_reason;
  const id = answer.response.headers.get("x-thread-id")!;
  const messages = done(
    await product.GET("/api/openai/v1/threads/{id}/messages", { params: { path: { id }, query: { user: "ann" } } }),
  );
  const roles: string[] = messages.data.map(({ role }) => role);
  // @ts-expect-error a model is a string
  const wrongModel: Schemas["ChatCompletionRequest"] = { model: 1, messages: [] };
  // @ts-expect-error content is text
  const wrongContent: number = content;
  void [wrongModel, wrongContent];
  return { texts: [texts[0], texts[1], texts[2] > 0], reason, roles };
}

async function files() {
  const uploaded = done(
    await product.POST("/api/openai/v1/files", {
      body: { file: "note.txt", purpose: "user_data" },
      bodySerializer: () => formOf("note.txt", "A note."),
    }),
  );
  const params = { path: { id: uploaded.id } };
  const read: Schemas["FileObject"] = done(await product.GET("/api/openai/v1/files/{id}", { params }));
  const bytes: Blob = done(
    await product.GET("/api/openai/v1/files/{id}/content", { params, parseAs: "blob" }),
  ) as unknown as Blob;
  const listed = done(await product.GET("/api/openai/v1/files")).data.map(({ id }) => id === uploaded.id);
  const { deleted } = done(await product.DELETE("/api/openai/v1/files/{id}", { params }));
  // @ts-expect-error a size is a number
  const wrong: string = read.bytes;
  void wrong;
  return { name: read.filename, content: await bytes.text(), listed: listed.includes(true), deleted };
}

async function models() {
  const { data } = done(await product.GET("/api/openai/v1/models"));
  const ids: string[] = data.map(({ id }) => id);
  const one = done(await product.GET("/api/openai/v1/models/{id}", { params: { path: { id: "offline/echo" } } }));
  // @ts-expect-error an id is text
  const wrong: number = one.id;
  void wrong;
  return { listed: ids.includes("offline/echo"), one: one.object };
}

async function agents() {
  const agent: Schemas["Agent"] = done(
    await person.POST("/api/agents", { body: { name: "Echo", model: "offline/echo" } }),
  );
  const path = { agent_id: agent.id };
  const response = whole(
    done(
      await product.POST("/api/agents/{agent_id}/v1/responses", { params: { path }, body: { input: "Good morning" } }),
    ),
  );
  const text = response.output.flatMap((item) =>
    item.type === "message" ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : [])) : [],
  );
  const read = whole(
    done(
      await product.GET("/api/agents/{agent_id}/v1/responses/{id}", { params: { path: { ...path, id: response.id } } }),
    ),
  );
  const { version } = done(
    await person.PATCH("/api/agents/{id}", { params: { path: { id: agent.id } }, body: { instructions: "Be kind." } }),
  );
  // @ts-expect-error an agent needs a name
  const wrong: Body<"/api/agents"> = { model: "offline/echo" };
  void wrong;
  return { text, same: read.id === response.id, status: read.status, version };
}

async function knowledge() {
  const { slug } = done(await product.POST("/api/v1/knowledge/collections", { body: { name: "Openapi fetch" } }));
  const path = { reference: slug };
  const pushed = done(
    await product.POST("/api/v1/knowledge/collections/{reference}/documents/text", {
      params: { path },
      body: { text: "The refund takes thirty days.", name: "refunds.md", tags: ["policy"] },
    }),
  );
  const params = { path: { id: pushed.id } };
  await until(async () => done(await product.GET("/api/v1/knowledge/documents/{id}", { params })).status === "ready");
  const { results } = done(
    await product.POST("/api/v1/knowledge/search", { body: { query: "refund", collections: [slug] } }),
  );
  const names: string[] = results.map(({ document }) => document.name);
  const { supported } = done(
    await product.POST("/api/v1/knowledge/verify", {
      body: { answer: "A refund takes thirty days.", citations: [{ document_id: pushed.id, seq: 0 }] },
    }),
  );
  if (supported !== 1) throw new Error("the answer is supported");
  const { total } = done(
    await product.GET("/api/v1/knowledge/collections/{reference}/documents", {
      params: { path, query: { status: "ready" } },
    }),
  );
  // @ts-expect-error a status that does not exist
  const wrong: Query<"/api/v1/knowledge/collections/{reference}/documents"> = { status: "lost" };
  void wrong;
  return { names, total };
}

async function extraction() {
  const requested = done(
    await product.POST("/api/v1/extractions", {
      body: { file: "a.md" },
      bodySerializer: () => formOf("a.md", "# By openapi-fetch"),
    }),
  );
  const read = async () =>
    done(await product.GET("/api/v1/extractions/{id}", { params: { path: { id: requested.id } } }));
  await until(async () => (await read()).status === "ready");
  const { markdown }: Schemas["Extraction"] = await read();
  // @ts-expect-error it may be missing
  const wrong: string = markdown;
  void wrong;
  return { markdown: markdown?.trim() };
}

async function workflows() {
  const definition = done(
    await person.POST("/api/definitions", { body: { type: "workflow", name: "by_openapi_fetch", source: WORKFLOW } }),
  );
  const workflow = done(
    await person.POST("/api/workflows", { body: { definition_id: definition.id, envelope: { egress: [] } } }),
  );
  const params = { path: { id: workflow.id } };
  const started = done(await product.POST("/api/workflows/{id}/runs", { params, body: { args: { amount: 7 } } }));
  const status: "pending" = started.status;
  const trigger = done(await person.POST("/api/workflows/{id}/triggers", { params, body: { name: "Hook" } }));
  const signed = { name: "Signed", verify: { scheme: "hmac" as const, secret: "12345678", header: "x-signature" } };
  const { verify } = done(await person.POST("/api/workflows/{id}/triggers", { params, body: signed }));
  const scheme: string | undefined = verify?.scheme;
  // @ts-expect-error a scheme that does not exist
  const wrong: Body<"/api/workflows/{id}/triggers"> = { verify: { scheme: "nobody", secret: "12345678" } };
  void wrong;
  return { run_id: started.id, status, trigger, scheme, steps: Object.keys(definition.workflow?.steps ?? {}) };
}

async function approvals(run_id: string) {
  const find = async () =>
    done(await person.GET("/api/workflows/runs/{run_id}/approvals", { params: { path: { run_id } } })).data;
  await until(async () => (await find()).length === 1);
  const [approval] = await find();
  const decided: Schemas["Approval"] = done(
    await person.POST("/api/workflows/approvals/{approval_id}/decision", {
      params: { path: { approval_id: approval!.id } },
      body: { decision: "approve", comment: "Fine." },
    }),
  );
  const decision: "approve" | "reject" | null = decided.decision;
  // @ts-expect-error a decision that does not exist
  const wrong: "perhaps" = decided.decision;
  void wrong;
  return { title: approval!.title, status: decided.status, decision, comment: decided.comment };
}

async function runs(run_id: string) {
  const read = async () =>
    done(await person.GET("/api/workflows/runs/{run_id}", { params: { path: { run_id }, query: { wait: "10" } } }));
  await until(async () => (await read()).status === "completed");
  const { result, steps, counts } = await read();
  const { data } = done(await person.GET("/api/workflows/runs", { params: { query: { limit: "5" } } }));
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
  const headers = { authorization: `Bearer ${secret}` };
  const path = { hook_token };
  const started = done(
    await anyone.POST("/api/workflows/hooks/{hook_token}", { params: { path }, headers, body: { amount: 1 } }),
  );
  if (!("run_id" in started)) throw new Error("no run");
  const run_id: string = started.run_id;
  const polled = done(
    await anyone.GET("/api/workflows/hooks/{hook_token}/runs/{run_id}", {
      params: { path: { ...path, run_id } },
      headers,
    }),
  );
  // @ts-expect-error a status that does not exist
  const wrong: "lost" = polled.status;
  void wrong;
  return { same: polled.run_id === run_id, started: "status_url" in started };
}

async function keys() {
  const created = done(await person.POST("/api/keys", { body: { name: "By openapi-fetch", products: ["knowledge"] } }));
  const shown: string | undefined = created.key;
  const params = { path: { id: created.id } };
  const { enabled } = done(await person.PATCH("/api/keys/{id}", { params, body: { enabled: false } }));
  await person.DELETE("/api/keys/{id}", { params });
  const { total } = done(await person.GET("/api/keys"));
  // @ts-expect-error a product that does not exist
  const wrong: "email"[] = created.products;
  void wrong;
  return { shown: shown !== undefined, enabled, several: total > 0 };
}

async function members() {
  const body = { name: "Ann", email: "ann.fetch@example.org", role: "viewer" as const };
  const { id, role } = done(await person.POST("/api/members", { body }));
  const member: Schemas["Member"] = done(await person.GET("/api/members/{id}", { params: { path: { id } } }));
  // @ts-expect-error a role that does not exist
  const wrong: Body<"/api/members"> = { ...body, role: "king" };
  void wrong;
  return { role, email: member.email };
}

async function usage() {
  const params = { query: { group_by: "model" as const } };
  const { totals, group_by } = whole(done(await person.GET("/api/usage", { params })));
  const turns: number = totals.turns;
  // @ts-expect-error a grouping that does not exist
  const wrong: Query<"/api/usage"> = { group_by: "week" };
  void wrong;
  return { group_by, several: turns > 0 };
}

async function events() {
  const params = { query: { type: "TurnStarted" } };
  const { data, has_more } = whole(done(await person.GET("/api/events", { params })));
  const types: string[] = data.map(({ type }) => type);
  // @ts-expect-error it is a boolean
  const wrong: string = has_more;
  void wrong;
  return { types: [...new Set(types)] };
}

async function operations() {
  const { ready, processes } = done(await person.GET("/api/health"));
  const roles: string[] = processes.map(({ role }) => role);
  const { data } = done(await person.GET("/api/dead-letters"));
  const kinds: ("command" | "reaction")[] = data.map(({ kind }) => kind);
  // @ts-expect-error it is a boolean
  const wrong: string = ready;
  void wrong;
  return { several: roles.length > 0, kinds };
}

async function errors() {
  const { data, error, response } = await product.POST("/api/openai/v1/chat/completions", {
    body: { model: "nobody/none", messages: [{ role: "user", content: "A" }] },
  });
  const code: string | null | undefined = error?.error.code;
  return { data: data === undefined, status: response.status, code };
}

await printFamilies(
  { workflows, approvals, runs, hooks },
  { chat, files, models, agents, knowledge, extraction, keys, members, usage, events, operations, errors },
);
