import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { WAITING, type Client } from "../workflows/tenant.ts";
import { openTwoTenants } from "./tenants.ts";

/* GET /api/find/names: things by a part of their name. */

const { home: tenant, foreign: stranger } = await openTwoTenants();

const find = async (name: string, by: Client = tenant.owner) =>
  tenant.made(by("GET", `/find/names?name=${encodeURIComponent(name)}`));
const kindsOf = async (name: string, by?: Client): Promise<string[]> =>
  (await find(name, by)).data.map(({ kind }: { kind: string }) => kind);

test("named items are found by a part of the name, but only by callers who may see them", async () => {
  const { owner, made } = tenant;
  await made(owner("POST", "/members", { name: "Zebra Q.", email: "zebra@example.org", role: "viewer" }));
  await made(owner("POST", "/keys", { name: "A zebra" }));
  await made(owner("POST", "/v1/knowledge/collections", { name: "zebras" }));
  await tenant.newAgent({ name: "The ZEBRA" });
  await tenant.register(WAITING, {}, { name: "Zebra crossing" });
  const source = `export const meta = { name: "zebra_tool" };\nexport const execute = () => 1;`;
  await made(owner("POST", "/definitions", { type: "tool", source }));
  const { data, has_more } = await find("zEBra");
  // those that begin with it first
  expect(data.map(({ name }: { name: string }) => name)).toEqual([
    "Zebra crossing",
    "Zebra Q.",
    "zebra_tool",
    "zebras",
    "A zebra",
    "The ZEBRA",
  ]);
  expect(has_more).toBe(false);
  const [builder, viewer] = [await tenant.member("builder"), await tenant.member("viewer")];
  expect((await kindsOf("zebra", builder.call)).toSorted()).toEqual(
    ["agent", "collection", "definition", "user", "workflow"].toSorted(),
  );
  expect((await kindsOf("zebra", viewer.call)).toSorted()).toEqual(["agent", "collection", "user", "workflow"]);
  expect(await kindsOf("zebra", stranger.owner)).toEqual([]);
});

test("special characters of JSON and of patterns are treated as ordinary characters", async () => {
  const name = String.raw`100%_"sure"\maybe`;
  const agent = await tenant.newAgent({ name });
  for (const part of ["100%_", `"sure"`, String.raw`"\m`, name])
    expect((await find(part)).data, part).toEqual([{ kind: "agent", id: agent, name }]);
  for (const part of ["100__", String.raw`\\m`]) expect((await find(part)).data, part).toEqual([]);
});

test("a search of names returns at most 20 items, and no erased or removed ones", async () => {
  const agents: string[] = [];
  for (let n = 0; n < 21; n++) agents.push(await tenant.newAgent({ name: `Owl ${n}` }));
  const found = await find("owl");
  expect([found.data.length, found.has_more]).toEqual([20, true]);
  await tenant.made(tenant.owner("DELETE", `/agents/${agents[0]}`));
  const left = await find("owl");
  expect([left.data.length, left.has_more]).toEqual([20, false]);
  const { id } = await tenant.made(
    tenant.owner("POST", "/members", { name: "Gone Gnu", email: "gnu@example.org", role: "viewer" }),
  );
  expect(await kindsOf("gone gnu")).toEqual(["user"]);
  await tenant.owner("DELETE", `/members/${id}`);
  expect(await kindsOf("gone gnu")).toEqual([]);
});

test("the search requires a name", async () => {
  for (const query of ["", "?name=", "?name=%20", `?name=${"a".repeat(301)}`])
    expectRefusal(await tenant.owner("GET", `/find/names${query}`), 400, undefined, "name");
});
