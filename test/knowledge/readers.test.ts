import { beforeAll, describe, expect, test } from "vitest";
import { readPermissions } from "../accounts/permissionTable.ts";
import { clientOf } from "../http/service.ts";
import { openTenant } from "../workflows/tenant.ts";
import { openLibrary, openReader, type Library } from "./library.ts";

/* A document that names its readers, on every route and for every kind of caller. */

const SECRET = "marmalade";
let library: Library;
let document: { id: string };
let open: { id: string };
let person: Awaited<ReturnType<Awaited<ReturnType<typeof openTenant>>["member"]>>;
type Call = ReturnType<typeof clientOf>;
const callers: Record<string, { call: Call; token: string; user?: string }> = {};

beforeAll(async () => {
  library = await openLibrary();
  const { platform, credentials } = library;
  const tenant = await openTenant(platform.url, credentials);
  await library.collect("Vault");
  person = await tenant.member("viewer");
  const [builder, admin, member] = await Promise.all(
    (["builder", "admin", "approver"] as const).map((role) => tenant.member(role)),
  );
  await tenant.owner("PUT", "/groups/keepers", { members: [member!.id] });
  const readers = [{ person: person.id }, { group: "keepers" }, { external_user: "ann" }];
  const push = async (body: object) => library.ended((await library.push("vault", body)).body.id);
  document = await push({ text: `The code of the vault is ${SECRET}.`, name: "hidden", readers });
  open = await push({ text: "The vault has a door of steel.", name: "open" });
  const as = (name: string, token: string, user?: string) => {
    callers[name] = { call: openReader(platform.url, token).call, token, ...(user !== undefined && { user }) };
  };
  as("the named person", person.token);
  as("a person of the group", member!.token);
  as("a key for the named user", credentials.api_key, "ann");
  as("a builder", builder!.token);
  as("an admin", admin!.token);
  as("a key for nobody", credentials.api_key);
  as("a key for another user", credentials.api_key, "bob");
  as("a key for a user with the name of a person", credentials.api_key, person.id);
  as("a person that claims to be the named user", builder!.token, "ann");
});

const READERS = ["the named person", "a person of the group", "a key for the named user"];
const MANAGERS = ["an admin", "a key for nobody"];
const STRANGERS = [
  "a builder",
  "a key for another user",
  "a key for a user with the name of a person",
  "a person that claims to be the named user",
];

/** Every route of the knowledge API that returns details or content of a document, and its answer to a caller who may see it. */
const RECORD_ROUTES = [
  "GET /documents/{id}",
  "GET /documents",
  "GET /documents/{id}/versions",
  "GET /collections/{reference}/documents",
];
const TEXT_ROUTES = [
  "GET /documents/{id}/text",
  "GET /documents/{id}/passages",
  "GET /documents/{id}/content",
  "POST /search",
  "POST /verify",
];
/** Routes that change a document, or reveal only its id on the page of a source. */
const OTHER_ROUTES = [
  "GET /collections",
  "POST /collections",
  "GET /collections/{reference}",
  "PATCH /collections/{reference}",
  "DELETE /collections/{reference}",
  "POST /collections/{reference}/documents",
  "POST /collections/{reference}/documents/text",
  "POST /documents/batch",
  "GET /collections/{reference}/sources",
  "POST /collections/{reference}/sources",
  "GET /sources/{id}",
  "PATCH /sources/{id}",
  "DELETE /sources/{id}",
  "GET /sources/{id}/pages",
  "POST /sources/{id}/read",
  "PATCH /documents/{id}",
  "POST /documents/{id}/reprocess",
  "DELETE /documents/{id}",
];

const send = ({ call, user }: { call: Call; user?: string }, route: string) => {
  const [method, template] = route.split(" ") as [string, string];
  const path = template.replace("{id}", document.id).replace("{reference}", "vault");
  if (route === "POST /search") return call(method, path, { query: "code of the vault", user });
  const citations = [{ document_id: document.id, seq: 0 }];
  if (route === "POST /verify") return call(method, path, { answer: `The code is ${SECRET}.`, citations, user });
  return call(method, user === undefined ? path : `${path}?user=${user}`);
};

test("every route of the knowledge API is in one of the lists", () => {
  const prefix = "/api/v1/knowledge/";
  // docs/permissions.md has every route of the service, which test/accounts/permissions.test.ts checks
  const routes = readPermissions().filter(({ route }) => route.includes(` ${prefix}`));
  expect([...RECORD_ROUTES, ...TEXT_ROUTES, ...OTHER_ROUTES].toSorted()).toEqual(
    routes.map(({ route }) => route.replace(prefix, "/")).toSorted(),
  );
});

describe.each(READERS)("%s", (who) => {
  test.each([...RECORD_ROUTES, ...TEXT_ROUTES])("reads the document by %s", async (route) => {
    const { status, text, body } = await send(callers[who]!, route);
    // pushed text has no file
    if (route.endsWith("/content")) return expect([status, body.error.code]).toEqual([404, "no_stored_file"]);
    expect(status, text).toBe(200);
    expect(text).toContain(RECORD_ROUTES.includes(route) ? document.id : SECRET);
  });
});

describe.each(MANAGERS)("%s", (who) => {
  test.each(RECORD_ROUTES)("sees the document by %s", async (route) => {
    const { status, text } = await send(callers[who]!, route);
    expect([status, text.includes(document.id)]).toEqual([200, true]);
  });

  test.each(TEXT_ROUTES)("cannot read it by %s", async (route) => {
    const { status, text, body } = await send(callers[who]!, route);
    if (route.startsWith("GET")) expect([status, body.error.code]).toEqual([403, "not_a_reader"]);
    else expect(status, text).toBe(200);
    if (route !== "POST /verify") expect(text).not.toContain(SECRET);
    else expect(body.citations).toEqual([{ document_id: document.id, seq: 0, found: false }]);
  });
});

describe.each(STRANGERS)("%s", (who) => {
  test.each([...RECORD_ROUTES, ...TEXT_ROUTES])("finds no document by %s", async (route) => {
    const { status, text, body } = await send(callers[who]!, route);
    if (route.includes("{id}")) expect([status, body.error.code]).toEqual([404, "not_found"]);
    else expect(status, text).toBe(200);
    if (route === "POST /verify") expect(body.citations).toEqual([{ document_id: document.id, seq: 0, found: false }]);
    else if (!route.includes("{id}")) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(document.id);
      expect(text).toContain(open.id);
    }
  });
});

describe("other ways", () => {
  const searchIn = (caller: { call: Call; user?: string }, body: object) =>
    caller.call("POST", "/search", { query: "code", user: caller.user, ...body });

  test.each(STRANGERS)("of naming the document in a search are closed to %s", async (who) => {
    const { status, body } = await searchIn(callers[who]!, { document_ids: [document.id] });
    expect([status, body.error.code]).toEqual([400, "document_not_found"]);
  });

  test("of changing, processing or deleting it are closed to a builder who may not read it", async () => {
    const { call } = callers["a builder"]!;
    for (const [method, path, body] of [
      ["PATCH", "", { readers: null }],
      ["POST", "/reprocess", undefined],
      ["DELETE", "", undefined],
    ] as const) {
      const answer = await call(method, `/documents/${document.id}${path}`, body);
      expect([answer.status, answer.body.error.code], method).toEqual([404, "not_found"]);
    }
  });

  test("of learning it by sending its text again are closed, too", async () => {
    const { call } = callers["a builder"]!;
    const again = { text: `The code of the vault is ${SECRET}.` };
    const { status, body } = await call("POST", "/collections/vault/documents/text", again);
    expect([status, body.error.code]).toEqual([409, "already_exists"]);
    expect(JSON.stringify(body)).not.toContain(document.id);
  });

  const asked = async ({ token, user }: { token: string; user?: string }) => {
    const chat = clientOf({ chat: `${library.platform.url}/api/openai/v1` }, token);
    const lines = [
      `/tool search_documents ${JSON.stringify({ query: "code of the vault" })}`,
      `/tool read_document ${JSON.stringify({ document_id: document.id })}`,
    ];
    const tools = ["search_documents", "read_document"].map((name) => ({ type: "function", function: { name } }));
    const messages = [{ role: "user", content: lines.join("\n") }];
    const { status, body, text } = await chat("POST", "/chat/completions", {
      model: "offline/scripted",
      messages,
      tools,
      user,
    });
    expect(status, text).toBe(200);
    return body.choices[0].message.content as string;
  };

  test("through tools are open to the readers only", async () => {
    for (const who of ["a person of the group", "a key for the named user"]) {
      const [found, read] = (await asked(callers[who]!)).split("\nread_document: ");
      expect(found, who).toContain(document.id);
      expect(read, who).toContain(SECRET);
    }
    for (const who of [...MANAGERS, ...STRANGERS]) {
      const said = await asked(callers[who]!);
      expect(said, who).not.toContain(SECRET);
      expect(said, who).not.toContain(document.id);
      expect(said, who).toContain(open.id);
      expect(said, who).toContain("There is no such document");
    }
  });
});

test("changes of the readers apply at once, even for callers who could read the document before", async () => {
  const { call } = callers["a key for nobody"]!;
  const change = (readers: unknown) => call("PATCH", `/documents/${open.id}`, { readers });
  const finds = async (who: string) => {
    const { call, user } = callers[who]!;
    const { body } = await call("POST", "/search", { query: "door of steel", user });
    return body.results.some((result: any) => result.document.id === open.id);
  };
  expect((await change([{ role: "builder" }])).body.readers).toEqual([{ role: "builder" }]);
  expect(await finds("a key for another user")).toBe(false);
  expect(await finds("a key for nobody")).toBe(false);
  await expect.poll(() => finds("a builder"), { timeout: 20_000 }).toBe(true);
  expect((await change([])).status).toBe(200);
  expect(await finds("a builder")).toBe(false);
  expect((await change(null)).body).not.toHaveProperty("readers");
  await expect.poll(() => finds("a key for another user"), { timeout: 20_000 }).toBe(true);
});

test.each([
  ["the same text", "The door is painted."],
  ["another text", "The door is painted green."],
])("a push of %s that takes away the own right to read is answered with the document", async (_what, text) => {
  const { call } = callers["a builder"]!;
  const push = (body: object) =>
    call("POST", "/collections/vault/documents/text", { external_id: text, text: "The door is painted.", ...body });
  const { body: pushed } = await push({});
  await library.ended(pushed.id);
  const { status, body } = await push({ text, readers: [{ role: "owner" }] });
  expect([status < 300, body]).toMatchObject([true, { id: pushed.id, readers: [{ role: "owner" }] }]);
  expect((await call("GET", `/documents/${pushed.id}`)).status).toBe(404);
});

test.each([
  ["x", "readers"],
  [[{}], "readers[0]"],
  [[{ person: "x" }], "readers[0]"],
  [[{ person: "01900000-0000-7000-8000-000000000000" }], "readers"],
  [[{ role: "king" }], "readers[0]"],
  [[{ group: "a b" }], "readers[0]"],
  [[{ external_user: "" }], "readers[0]"],
  [[{ group: "a", role: "admin" }], "readers[0]"],
  [Array.from({ length: 101 }, () => ({ role: "admin" })), "readers"],
])("readers of the form $0 are refused", async (readers, param) => {
  const { status, body } = await library.push("vault", { text: "Never.", readers });
  expect(status).toBe(400);
  expect(body.error.param).toContain(param);
});
