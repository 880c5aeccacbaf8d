import { readFile } from "node:fs/promises";
import fastify, { type FastifyRequest } from "fastify";
import { afterEach, expect, test } from "vitest";
import type { App } from "./app.ts";
import { ALLOWED_BEYOND, ALWAYS_ALLOWED, refuseOverLogLimit, REVOCATIONS } from "./refuseOverLogLimit.ts";
import { toApiError } from "./toApiError.ts";

/** Routes that are refused beyond the limit. A new one that writes stands here or among those that are allowed. */
const REFUSED = [
  "PATCH /api/agents/:id",
  "PATCH /api/definitions/:id",
  "PATCH /api/projects/:id",
  "PATCH /api/v1/knowledge/collections/:reference",
  "PATCH /api/v1/knowledge/sources/:id",
  "PATCH /api/workflows/:id",
  "PATCH /api/workflows/:id/triggers/:trigger_id",
  "POST /api/agents",
  "POST /api/agents/:agent_id/v1/responses",
  "POST /api/definitions",
  "POST /api/keys",
  "POST /api/members",
  "POST /api/openai/v1/chat/completions",
  "POST /api/openai/v1/files",
  "POST /api/projects",
  "POST /api/v1/extractions",
  "POST /api/v1/knowledge/collections",
  "POST /api/v1/knowledge/collections/:reference/documents",
  "POST /api/v1/knowledge/collections/:reference/documents/text",
  "POST /api/v1/knowledge/collections/:reference/sources",
  "POST /api/v1/knowledge/documents/batch",
  "POST /api/v1/knowledge/documents/:id/reprocess",
  "POST /api/v1/knowledge/sources/:id/read",
  "POST /api/workflows",
  "POST /api/workflows/approvals/:approval_id/comments",
  "POST /api/workflows/events",
  "POST /api/workflows/hooks/:hook_token",
  "POST /api/workflows/runs/:run_id/fork",
  "POST /api/workflows/runs/:run_id/retry",
  "POST /api/workflows/:id/runs",
  "POST /api/workflows/:id/triggers",
  "PUT /api/aliases/:alias",
  "PUT /api/budgets/:subject",
  "PUT /api/ocr",
  "PUT /api/prices/:provider/:model",
  "PUT /api/providers/:name",
  "PUT /api/secrets/:name",
];

let app: App | undefined;
afterEach(() => app?.close());

const ALLOWED = [...ALWAYS_ALLOWED, ...ALLOWED_BEYOND];
const REVOKING = Object.keys(REVOCATIONS);

const refuse = { code: "storage_limit_reached" as const, message: "Too many events." };
/** `full` is over its limit, `fuller` far over it. */
const refusal = (organization: string) => (organization.startsWith("full") ? refuse : undefined);
const finalRefusal = (organization: string) => (organization === "fuller" ? refuse : undefined);

/** A server with these routes, where a header or the hook of a trigger names the organization. */
function open(routes: readonly string[]): App {
  app = fastify() as App;
  refuseOverLogLimit(app, { logLimits: { refusal, finalRefusal, countReached: () => 1 } });
  app.setErrorHandler((error, _request, reply) => reply.code(toApiError(error).status).send());
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    const { organization, hook } = request.headers as Record<string, string>;
    Object.assign(request, organization && { caller: { organization_id: organization } });
    Object.assign(request, hook && { trigger: { organization_id: hook } });
  };
  for (const name of routes) {
    const [method, url] = name.split(" ") as ["POST", string];
    app.route({ method, url, onRequest, handler: async () => "done" });
  }
  return app;
}

const statusOf = async (
  server: App,
  name: string,
  headers: Record<string, string>,
  payload?: object,
): Promise<number> => {
  const [method, url] = name.split(" ") as ["POST", string];
  const request = { method, url: url.replaceAll(/:[a-z_]+/g, "x"), headers, ...(payload && { payload }) };
  return (await server.inject(request)).statusCode;
};

test("every route that writes is either refused or allowed beyond the limit", async () => {
  const page = await readFile("docs/permissions.md", "utf8");
  const rows = [...page.matchAll(/^\| `((?:POST|PUT|PATCH) [^`]+)`/gm)].map(([, name]) =>
    name!.replaceAll(/\{(\w+)\}/g, ":$1"),
  );
  expect([...ALLOWED, ...REFUSED].toSorted()).toEqual(rows.toSorted());
});

test("an organization over its limit does only what is allowed beyond it, and reads and deletes", async () => {
  const others = ["GET /api/work", "DELETE /api/work"];
  const server = open([...ALLOWED, ...REFUSED, ...others]);
  for (const name of REFUSED) expect(await statusOf(server, name, { organization: "full" }), name).toBe(413);
  for (const name of [...ALLOWED, ...others])
    expect(await statusOf(server, name, { organization: "full" }), name).toBe(200);
  for (const name of REFUSED) expect(await statusOf(server, name, { organization: "other" }), name).toBe(200);
});

test("an organization far over its limit does only what can happen once for each thing", async () => {
  const others = ["GET /api/work", "DELETE /api/work"];
  const server = open([...ALLOWED, ...REFUSED, ...others]);
  for (const name of [...ALLOWED_BEYOND, ...REFUSED])
    expect(await statusOf(server, name, { organization: "fuller" }), name).toBe(413);
  for (const name of [...ALWAYS_ALLOWED, ...others])
    expect(await statusOf(server, name, { organization: "fuller" }), name).toBe(200);
});

test("a change that only takes access away is always allowed, and no other one", async () => {
  const server = open([...ALLOWED, ...REFUSED]);
  for (const organization of ["full", "fuller"])
    for (const name of REVOKING) {
      const revoking = REVOCATIONS[name]!;
      const granting = Object.fromEntries(Object.entries(revoking).map(([field, value]) => [field, !value]));
      const more = { ...revoking, name: "other" };
      expect(await statusOf(server, name, { organization }, revoking), name).toBe(200);
      const refused = organization === "full" && ALLOWED_BEYOND.includes(name) ? 200 : 413;
      for (const body of [granting, more, {}, [false]])
        expect(await statusOf(server, name, { organization }, body), name).toBe(refused);
    }
});

test("a hook belongs to its trigger's organization, and a request without a credential to none", async () => {
  const server = open([...ALLOWED, ...REFUSED]);
  const hook = "POST /api/workflows/hooks/:hook_token";
  expect(await statusOf(server, hook, { hook: "full" })).toBe(413);
  expect(await statusOf(server, hook, { hook: "other" })).toBe(200);
  expect(await statusOf(server, hook, {})).toBe(200);
});

test("a server without a route that is named as allowed does not start", async () => {
  const [missing, ...rest] = [...ALLOWED, ...REFUSED];
  await expect(open(rest).ready()).rejects.toThrow(`no route is ${missing}`);
});
