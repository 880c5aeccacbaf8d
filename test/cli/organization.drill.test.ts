import pg from "pg";
import { expect, test } from "vitest";
import { saveCredentials } from "../../cli/credentials.ts";
import { countEvents } from "../countEvents.ts";
import { administer } from "../template.ts";
import { openCommandLine, json } from "./svc.ts";

const CHAT_REQUEST = { model: "offline/echo", messages: [{ role: "user", content: "Hello" }] };

test("svc org create creates organizations that can chat and sign in at once, each with its own credentials", async () => {
  const cli = await openCommandLine();
  const running = await cli.startRoles();
  const post = (path: string, key: string | undefined, body: unknown) =>
    fetch(`${running.address}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify(body),
    });
  try {
    const ran = await cli.svc("org", "create", "Ada's", "--json");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    const { api_key, organization_id, base_url, admin } = json(ran);
    expect(api_key).toMatch(/^sk-svc-/);
    expect(base_url).toMatch(/^http:/);
    const chat = await post("/api/openai/v1/chat/completions", api_key, CHAT_REQUEST);
    expect(chat.status).toBe(200);
    expect(((await chat.json()) as any).choices[0].message.content).toContain("Hello");
    const login = await post("/api/auth/login", undefined, admin);
    expect(login.status).toBe(200);
    expect(((await login.json()) as any).organization).toEqual({ id: organization_id, name: "Ada's" });

    const second = json(await cli.svc("org", "create", "Another", "--json"));
    expect(second.organization_id).not.toBe(organization_id);
    expect(second.api_key).not.toBe(api_key);

    // as after a start on this folder
    saveCredentials({ DATA_DIR: cli.env["DATA_DIR"]!, BASE_URL: "" }, { ...second, base_url: running.address });
    const createThird = (changed: Record<string, string>) => cli.svcWith(changed, "org", "create", "Third", "--json");
    expect(json(await createThird({ PORT: "" })).base_url).toBe(running.address);
    expect(json(await createThird({ BASE_URL: "https://assistants.example" })).base_url).toBe(
      "https://assistants.example",
    );
  } finally {
    await running.stop();
  }
});

test("svc org create without a running service fails at once with one line", async () => {
  const cli = await openCommandLine();
  const ran = await cli.svc("org", "create", "Nobody's");
  expect(ran).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "No running service handles commands: start it with npm start, then run this again.\n",
  });
});

/** Its commands would wait for 30 s. */
const GIVEN_UP_SECONDS = 15;
const GIVEN_UP =
  "The running service did not finish the command in time: svc doctor says why. Then run this again; nobody can sign in to what this attempt may have created.\n";

test("svc org create gives up without a later effect if the running service takes no commands", async () => {
  const cli = await openCommandLine();
  await (await cli.startRoles()).stop();
  // a services process that is frozen, or about to be found dead
  await administer(cli.database.url, "insert into ops.workers values ('services-frozen', 'services', now())");
  const began = performance.now();
  const ran = await cli.svc("org", "create", "Nobody's");
  expect((performance.now() - began) / 1_000).toBeLessThan(GIVEN_UP_SECONDS);
  expect(ran).toMatchObject({ code: 1, stdout: "", stderr: GIVEN_UP });
  const running = await cli.startRoles();
  try {
    expect(json(await cli.svc("org", "create", "Ada's", "--json")).api_key).toMatch(/^sk-svc-/);
    expect(await countEvents(running.resources.db, "OrganizationCreated")).toBe(1);
  } finally {
    await running.stop();
  }
});

test("svc org create gives up a command that its worker cannot finish, and the command takes effect at most once", async () => {
  const cli = await openCommandLine();
  const running = await cli.startRoles();
  const other = new pg.Client({ connectionString: cli.database.url });
  await other.connect();
  try {
    // every append waits
    await other.query("begin; select from log.head for update");
    const began = performance.now();
    expect(await cli.svc("org", "create", "Late")).toMatchObject({ code: 1, stdout: "", stderr: GIVEN_UP });
    expect((performance.now() - began) / 1_000).toBeLessThan(GIVEN_UP_SECONDS);
    await other.query("rollback");
    expect(json(await cli.svc("org", "create", "Ada's", "--json")).api_key).toMatch(/^sk-svc-/);
    const created = `select count(*)::integer as commands, count(distinct stream)::integer as streams
      from log.events where type = 'OrganizationCreated'`;
    const [found] = await running.resources.db.query<{ commands: number; streams: number }>(created);
    expect(found!.commands).toBe(found!.streams);
    expect(found!.commands).toBeLessThanOrEqual(2);
  } finally {
    await other.end();
    await running.stop();
  }
});
