import { callRoute, fillPath, type openHomeAndForeign } from "../../accounts/everyRoute.ts";
import { fileForm, say } from "../../http/service.ts";
import { UNKNOWN, WAITING, type Client } from "../../workflows/tenant.ts";
import { isRefusal, operationOf, type Refusal } from "./refusals.ts";

type Stage = Awaited<ReturnType<typeof openHomeAndForeign>>;

/** They end what the test works with. */
const ENDS = new Set(["POST /api/auth/logout", "POST /api/auth/password"]);
const DECISION_BY_LINK = "POST /api/workflows/approval-links/{link_id}/decision";
/** Nonsense for parameters of lists. */
const QUERIES = [
  "?from=x&to=x&after=x&status=x&as_of=x&subject=x&owner=x&limit=x",
  "?principal=x&type=x&by=x&order=x",
  "?stream=x",
  "?command=%20",
  "?after=x",
  "?metadata.a=x&kind=x&result=x&day=x",
];
const BODIES = ["null", "[]", '{"name":1,"priority":[],"filter":1,"cursor":1}', "{"];

/** The service never fetches it. */
const PICTURE = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };

/** Sends every route requests that it refuses, and collects the errors. */
export async function askWrongly({ home, things, keyWith }: Stage, routes: string[]): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const keep = (route: string, { status, body }: { status: number; body: any }) => {
    if (isRefusal(status, body)) refusals.push({ operation: operationOf(route), status, body });
  };
  const nobody: Client = (method, path, body, headers) =>
    home.key(method, path, body, { ...headers, authorization: "" });
  const stranger = home.clientAt("sk-svc-unknown");
  const signedOut = home.clientAt("sess-svc-ended");
  const disabled = await keyWith({ enabled: false });
  const noProducts = (await keyWith({ products: [] })).call;
  const viewer = (await home.member("viewer")).call;
  const holder = home.clientAt(things["link_secret"]!);
  const linked = fillPath(DECISION_BY_LINK, { ...things, "approval-links": things["links"]! }).replace(/^\/api/, "");
  const others = [nobody, stranger, signedOut, disabled.call, home.key, noProducts];
  for (const route of routes) {
    for (const call of others) keep(route, await callRoute(call, route));
    if (ENDS.has(route)) continue;
    for (const call of [viewer, home.clientAt(things["hook_secret"]!)]) keep(route, await callRoute(call, route));
    // things that do not exist
    keep(route, await callRoute(home.owner, route));
    const [method = ""] = route.split(" ");
    const path = fillPath(route, { "approval-links": UNKNOWN, ...things }).replace(/^\/api/, "");
    if (method === "GET") for (const query of QUERIES) keep(route, await home.owner(method, path + query));
    else if (method !== "DELETE") for (const body of BODIES) keep(route, await home.owner(method, path, body));
    // a hook accepts only its secret
    if (route.includes("/hooks/{hook_token}") && !route.includes("run_id"))
      keep(route, await callRoute(nobody, route, things));
    // a link accepts only its secret
    if (route === DECISION_BY_LINK)
      for (const body of [...BODIES, { decision: "approve" }]) keep(route, await holder(method, linked, body));
  }
  return refusals;
}

/** Mistakes that people make who know the API. */
export async function makeMistakes({ home, things, keyWith }: Stage): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const chat = "POST /api/openai/v1/chat/completions";
  const tool = (name: string) => ({ tools: [{ type: "function", function: { name } }] });
  const at = (template: string) => fillPath(template, things).replace(/^\/api/, "");
  const taken: string[] = [];
  const attempt = async (route: string, body?: unknown, { by = home.owner, path = at(route) } = {}) => {
    const answer = await by(route.split(" ")[0]!, path, body);
    if (!isRefusal(answer.status, answer.body)) taken.push(`${route} ${JSON.stringify(body)}: ${answer.status}`);
    else refusals.push({ operation: operationOf(route), status: answer.status, body: answer.body });
  };
  const asks: [route: string, body?: unknown][] = [
    [chat, say("x", { model: "offline/none" })],
    [chat, { model: "offline/echo", messages: [{ role: "wizard", content: "x" }] }],
    [chat, { model: "offline/echo", messages: [] }],
    [chat, say("x", { tool_choice: "sometimes" })],
    [chat, say("x", tool("make_coffee"))],
    [chat, say("x", tool("web_search"))],
    [chat, say("x", { knowledge: { collections: ["nowhere"] } })],
    [chat, { model: "offline/echo", messages: [{ role: "user", content: [PICTURE] }] }],
    [chat, say("x", { response_format: { type: "json_schema", json_schema: { name: "a b" } } })],
    [chat, say("x", { attachments: [UNKNOWN] })],
    [chat, say("x", { attachments: Array.from({ length: 17 }, () => UNKNOWN) })],
    [chat, say("/fail 401", { model: "offline/scripted" })],
    [
      "POST /api/agents/{agent_id}/v1/responses",
      { input: "x", tools: [{ type: "function", function: { name: "x" } }] },
    ],
    ["POST /api/agents/{agent_id}/v1/responses", { input: [] }],
    ["POST /api/agents/{agent_id}/v1/responses", { input: "x", vars: [] }],
    ["POST /api/agents/{agent_id}/v1/responses", { input: "x", previous_response_id: "x" }],
    ["POST /api/agents/{agent_id}/v1/responses", { input: "x", previous_response_id: UNKNOWN }],
    ["POST /api/agents/{agent_id}/v1/responses", { input: "x", text: { format: { type: "json_object" } } }],
    ["POST /api/auth/login", { email: "nobody@example.com", password: "a wrong password" }],
    ["POST /api/auth/start", { code: "used-or-unknown" }],
    ["POST /api/auth/password", { current_password: "a wrong password", new_password: "another password" }],
    ["POST /api/members", { name: "Ada", email: home.credentials.admin.email, role: "builder" }],
    ["POST /api/v1/knowledge/collections", { name: "Home" }],
    ["POST /api/v1/knowledge/collections", { name: "!!!" }],
    ["POST /api/v1/knowledge/search", { query: "" }],
    ["POST /api/v1/knowledge/search", { query: "x", collections: ["nowhere"] }],
    ["POST /api/v1/knowledge/search", { query: "x", document_ids: [UNKNOWN] }],
    ["POST /api/v1/knowledge/collections/{reference}/documents/text", { name: "a.md", text: "" }],
    ["POST /api/v1/knowledge/collections/{reference}/documents", fileForm("MZ", "program.exe", { type: "" })],
    ["POST /api/v1/extractions", fileForm("MZ", "program.exe", { type: "" })],
    ["POST /api/v1/extractions", fileForm("", "empty.md", { type: "" })],
    ["POST /api/openai/v1/files", fileForm("", "empty.md", { type: "" })],
    ["POST /api/definitions", { type: "tool", name: "broken", source: "export const x = ;" }],
    ["POST /api/workflows", { definition_id: UNKNOWN, name: "x" }],
    ["POST /api/workflows/{id}/triggers", { name: "x", schedule: { cron: "never", time_zone: "UTC" } }],
    ["POST /api/workflows/runs/{run_id}/cancel", {}],
    ["POST /api/workflows/runs/{run_id}/retry", {}],
    ["POST /api/workflows/approvals/{approval_id}/decision", { decision: "reject" }],
    ["POST /api/workflows/approvals/{approval_id}/decision", { decision: "perhaps" }],
    ["DELETE /api/projects/{id}"],
    ["PUT /api/aliases/{alias}", { targets: [{ model: "nowhere" }] }],
    ["PUT /api/budgets/{subject}", { tokens_per_day: -1 }],
    ["POST /api/retention/{subject}/preview", { threads: "forever" }],
    ["POST /api/erasures", { owner: "nobody" }],
    ["POST /api/agents", { name: "x", project_id: UNKNOWN }],
    ["PUT /api/ocr", { languages: ["xyz"] }],
    ["PUT /api/providers/{name}", { api_key: "k", base_url: "not an address" }],
  ];
  for (const [route, body] of asks) await attempt(route, body);
  const model = "GET /api/agents/{agent_id}/v1/models/{id}";
  await attempt(model, undefined, { path: at(model).replace(/models\/.*/, "models/offline/none") });
  const owners = `/members/${(await home.made(home.owner("GET", "/auth/me"))).user.id}`;
  await attempt("PATCH /api/members/{id}", { role: "viewer" }, { path: owners });
  await attempt("DELETE /api/members/{id}", undefined, { path: owners });
  for (const what of ["text", "passages"])
    refusals.push(await askWhileProcessed(home, `GET /api/v1/knowledge/documents/{id}/${what}`, at));
  await refuseByRules({ attempt, home, things, keyWith });
  if (taken.length > 0) throw new Error(`no mistakes: ${taken.join("; ")}`);
  return refusals;
}

/** Asks a route about a document that is being processed. Tries again, because a document may be ready before the request. */
async function askWhileProcessed(
  { owner }: Stage["home"],
  route: string,
  at: (template: string) => string,
): Promise<Refusal> {
  for (;;) {
    await owner("POST", at("POST /api/v1/knowledge/documents/{id}/reprocess"), {});
    const { status, body } = await owner("GET", at(route));
    if (isRefusal(status, body)) return { operation: operationOf(route), status, body };
  }
}

type Attempt = (route: string, body?: unknown, options?: { by?: Client; path?: string }) => Promise<void>;

/** Requests that a setting of the organization forbids: a budget, a hold, an agent whose API is off. */
async function refuseByRules({
  attempt,
  home,
  keyWith,
}: Pick<Stage, "home" | "things" | "keyWith"> & { attempt: Attempt }): Promise<void> {
  const { made, owner, key } = home;
  const agent = await home.newAgent({ api_enabled: false });
  const ask = "POST /api/agents/{agent_id}/v1/responses";
  await attempt(ask, { input: "x" }, { by: key, path: `/agents/${agent}/v1/responses` });
  const poor = await keyWith({});
  await made(owner("PUT", `/budgets/key:${poor.id}`, { requests_per_minute: 0, tokens_per_day: 0, hard: true }));
  await attempt("POST /api/openai/v1/chat/completions", say("x"), { by: poor.call });
  const held = await key("POST", "/openai/v1/chat/completions", say("x"));
  const thread = held.headers.get("x-thread-id");
  await made(owner("POST", "/holds", { subject: `thread:${thread}`, name: "A-2", reason: "A claim" }));
  await attempt("DELETE /api/openai/v1/threads/{id}", undefined, { by: key, path: `/openai/v1/threads/${thread}` });
  const { id: definition } = await home.define();
  const { name, type } = await made(owner("GET", `/definitions/${definition}`));
  const source = "export const execute = () => 1;";
  await attempt("POST /api/definitions", { type, name, source: type === "tool" ? source : WAITING });
}
