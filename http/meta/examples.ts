/* An example of each body that is sent as JSON, for the API description. They fit the schemas: dev/checks/apiDescription.ts. */

const PERSON = "01a21991-bce5-7e4f-8d3c-5b0f6a2e9c11";
const DOCUMENT = "01a21991-d0c5-7b21-8e53-1c4f6e2b9d33";
const DEFINITION = "01a21991-def1-7c32-9f64-2d5a7f3c8e44";
const WORKFLOW = "01a21991-f10a-7d43-8a75-3e6b8a4d9f55";
const FILE = "01a21991-f11e-7e54-9b86-4f7c9b5e8a66";

const SCHEDULE = { cron: "0 9 * * 1-5", time_zone: "Europe/Berlin" };
const DECISION = { decision: "approve", comment: "The receipt is attached.", data: { percent: 100 } };
const SOURCE = `export const meta = {
  description: "Says hello",
  parameters: { type: "object", properties: { name: { type: "string" } } },
  secrets: ["CRM_TOKEN"],
};
export async function execute({ name }) {
  return "Hello, " + name;
}
`;
const WORKFLOW_SOURCE = `export async function run(ctx, { order }) {
  const { decision } = await ctx.awaitApproval("manager", { title: "Refund " + order + "?" });
  return { refunded: decision === "approve" };
}
`;
const KEPT = { threads: "90d", files: "30d" };

/** By method and path of the description. */
export const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  "post /api/openai/v1/chat/completions": {
    model: "openai/gpt-5-mini",
    messages: [
      { role: "system", content: "Answer in one sentence." },
      { role: "user", content: "What does the handbook say about refunds?" },
    ],
    knowledge: { collections: ["handbook"] },
    user: "customer-17",
  },
  "post /api/agents/{agent_id}/v1/responses": {
    input: "What does the handbook say about refunds?",
    user: "customer-17",
  },
  "post /api/auth/login": { email: "ada@example.com", password: "correct horse battery staple" },
  "post /api/auth/start": { code: "the code after #start= in the link" },
  "post /api/auth/password": { current_password: "first password", new_password: "correct horse battery staple" },
  "post /api/members": { name: "Ada Lovelace", email: "ada@example.com", role: "builder" },
  "patch /api/members/{id}": { role: "approver" },
  "put /api/members/{id}/substitute": {
    substitute: PERSON,
    from: "2026-12-21T00:00:00Z",
    until: "2027-01-04T00:00:00Z",
  },
  "post /api/keys": { name: "Website", products: ["knowledge"], allowed_models: ["openai/gpt-5-mini"] },
  "patch /api/keys/{id}": { enabled: false },
  "post /api/projects": { name: "Website" },
  "patch /api/projects/{id}": { name: "Website and app" },
  "put /api/tools/scripted": { enabled: false },
  "put /api/ocr": { languages: ["deu", "eng"] },
  "put /api/groups/{group}": { members: [PERSON] },
  "put /api/providers/{name}": { api_key: "sk-of-your-provider", models: ["gpt-5-mini"] },
  "put /api/prices/{provider}/{model}": {
    prices: [{ valid_from: "2026-12-01T00:00:00Z", input: "0.25", cached_input: "0.025", output: "2" }],
  },
  "put /api/aliases/{alias}": {
    targets: [{ model: "openai/gpt-5-mini" }, { model: "anthropic/claude-haiku-4-5" }],
    on: ["429", "5xx", "timeout"],
    timeout_seconds: 20,
  },
  "put /api/budgets/{subject}": { requests_per_minute: 60, cost_per_month: "200", hard: true },
  "post /api/agents": {
    name: "Handbook",
    model: "openai/gpt-5-mini",
    instructions: "Answer from the handbook, and name the page.",
    tools: ["search_documents", "read_document"],
    collections: ["handbook"],
    api_enabled: true,
  },
  "patch /api/agents/{id}": { instructions: "Answer from the handbook in two sentences." },
  "post /api/definitions": { type: "tool", name: "say_hello", source: SOURCE },
  "patch /api/definitions/{id}": { source: SOURCE, grants: ["CRM_TOKEN"] },
  "post /api/definitions/check": { type: "tool", source: SOURCE },
  "post /api/definitions/check-types": { type: "tool", source: SOURCE },
  "post /api/definitions/{id}/check-runs": { source: WORKFLOW_SOURCE, status: "completed", limit: 100 },
  "put /api/secrets/{name}": { value: "the token of your CRM" },
  "post /api/erasures": { owner: `person:${PERSON}`, kinds: ["threads", "files"] },
  "post /api/erasures/preview": { owner: `person:${PERSON}` },
  "post /api/exports": { subject: "user:customer-17" },
  "put /api/retention/{subject}": KEPT,
  "post /api/retention/{subject}/preview": KEPT,
  "post /api/holds": { subject: `person:${PERSON}`, name: "Case 2026-14", reason: "The court asks for what was said." },
  "post /api/v1/knowledge/collections": { name: "Handbook", description: "What everybody here may read." },
  "patch /api/v1/knowledge/collections/{reference}": { description: "What customers may read, too." },
  "post /api/v1/knowledge/collections/{reference}/documents/text": {
    name: "refunds.md",
    text: "# Refunds\n\nA refund takes five working days.",
    tags: ["policy"],
    metadata: { language: "en" },
    external_id: "cms-4711",
  },
  "post /api/v1/knowledge/documents/batch": {
    collection: "handbook",
    documents: [
      { name: "refunds.md", text: "A refund takes five working days." },
      { name: "hours.md", text: "We are open from nine to five." },
    ],
  },
  "post /api/v1/knowledge/collections/{reference}/sources": {
    kind: "sitemap",
    url: "https://example.com/sitemap.xml",
    schedule: SCHEDULE,
    include: ["/help/*"],
  },
  "patch /api/v1/knowledge/sources/{id}": { paused: true },
  "patch /api/v1/knowledge/documents/{id}": { tags: ["policy"], metadata: { language: "en" } },
  "post /api/v1/knowledge/search": {
    query: '"five working days" -shipping',
    collections: ["handbook"],
    limit: 10,
    highlights: true,
  },
  "post /api/v1/knowledge/verify": {
    answer: "A refund takes five working days.",
    citations: [{ document_id: DOCUMENT, version: 1, seq: 3 }],
  },
  "post /api/workflows": {
    definition_id: DEFINITION,
    name: "Refund",
    envelope: { collections: ["handbook"], limits: { max_steps: 100 }, priority: "high" },
  },
  "patch /api/workflows/{id}": { enabled: false },
  "post /api/workflows/{id}/triggers": { name: "Every weekday", schedule: SCHEDULE, args: { limit: 20 } },
  "patch /api/workflows/{id}/triggers/{trigger_id}": { paused: true },
  "post /api/workflows/{id}/triggers/{trigger_id}/rotate": {
    verify: { secret: "the secret that the sender signs with" },
  },
  "post /api/workflows/{id}/runs": { args: { order: "A-17", amount: 25 }, files: [FILE] },
  "post /api/workflows/runs/{run_id}/cancel": { reason: "The order was withdrawn." },
  "post /api/workflows/runs/{run_id}/fork": { args: { order: "A-18", amount: 25 } },
  "post /api/workflows/runs/change": {
    action: "retry",
    filter: { status: "failed", workflow_id: WORKFLOW, from: "2026-12-01T00:00:00Z" },
    dry_run: true,
  },
  "post /api/workflows/events": { name: "order.paid", data: { order: "A-17" }, id: "payment-4711" },
  "post /api/workflows/approvals/{approval_id}/decision": DECISION,
  "post /api/workflows/approvals/{approval_id}/delegate": { to: PERSON, reason: "Mo knows the customer." },
  "post /api/workflows/approvals/{approval_id}/comments": { text: "Who has the receipt?" },
  "post /api/workflows/approvals/{approval_id}/links": { expires_in: 604_800, for: { name: "The auditor" } },
  "post /api/workflows/approval-links/{link_id}/decision": DECISION,
  "post /api/workflows/hooks/{hook_token}": { order: "A-17", amount: 25 },
};
