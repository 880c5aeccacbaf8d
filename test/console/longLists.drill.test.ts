import { beforeAll, expect, test } from "vitest";
import { SOON } from "../workflows/soon.ts";
import { agreeToAll, openConsole, type Console } from "./browser.ts";

/* An organization with more of everything than the first page of a list has. */

const MANY = 501;
/** Requests under way at once. */
const AT_ONCE = 8;
/** An agent of 60 kB: a page of 2 MB has 33 of them. */
const INSTRUCTIONS = "Answer in one sentence. ".repeat(2_500);
const AGENTS = 40;

let tenant: Console["tenant"];
let open: Console["open"];
let members: string[];
let keys: string[];

/** Makes many things, a few at a time, the first one first and the last one last. */
async function make(count: number, one: (n: number) => Promise<string>): Promise<string[]> {
  const made: string[] = [await one(0)];
  let next = 1;
  const work = async () => {
    for (let n = next++; n < count - 1; n = next++) made[n] = await one(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (count > 1) made[count - 1] = await one(count - 1);
  return made;
}

beforeAll(async () => {
  ({ tenant, open } = await openConsole());
  const { owner, made } = tenant;
  const member = async (n: number) =>
    (await made(owner("POST", "/members", { name: `Person ${n}`, email: `person.${n}@example.org`, role: "approver" })))
      .id;
  const key = async (n: number) => (await made(owner("POST", "/keys", { name: `Key ${n}` }))).id;
  const price = (n: number) => {
    const prices = [{ input: String(n), output: "1" }];
    return made(owner("PUT", `/prices/vendor/model-${String(n).padStart(3, "0")}`, { prices }));
  };
  const agent = (n: number) =>
    made(owner("POST", "/agents", { name: `Agent ${n}`, model: "offline/echo", instructions: INSTRUCTIONS }));
  [members, keys] = await Promise.all([make(MANY, member), make(MANY, key), make(MANY, price), make(AGENTS, agent)]);
});

test("filters find the last member and the first key, and those who asked are called by their names", async () => {
  const [member, key] = [members.at(-1)!, keys[0]!];
  const page = await open(`members?q=Person+${MANY - 1}`);
  await page.getByRole("link", { name: `Person ${MANY - 1}` }).waitFor();
  // newest first
  await page.goto(`${tenant.url}/console/keys?q=Key+0`);
  await page.getByRole("link", { name: "Key 0" }).waitFor();
  const asker = page.getByLabel("Asked by");
  const chosen = () => asker.evaluate((select: any) => select.selectedOptions[0].textContent);
  await page.goto(`${tenant.url}/console/requests?who=person:${member}`);
  await expect.poll(chosen, SOON).toBe(`Person ${MANY - 1}`);
  await page.goto(`${tenant.url}/console/requests?who=key:${key}`);
  await expect.poll(chosen, SOON).toBe("key Key 0");
  await page.goto(`${tenant.url}/console/privacy?section=erasures&subject=person:${member}`);
  await expect.poll(() => page.getByLabel("Which one").inputValue(), SOON).toBe(member);
});

test("the last member stays in a group that is changed", async () => {
  const [first, last] = [members[0]!, members.at(-1)!];
  await tenant.made(tenant.owner("PUT", "/groups/late", { members: [last] }));
  const page = await open("settings?section=groups&edit=late");
  const box = (n: number) => page.getByLabel(`Person ${n} `);
  await expect.poll(() => box(MANY - 1).isChecked(), SOON).toBe(true);
  await box(0).check();
  await page.getByRole("button", { name: "Change group" }).click();
  const inIt = async () => (await tenant.made(tenant.owner("GET", "/groups/late"))).members.map(({ id }: any) => id);
  await expect.poll(async () => (await inIt()).toSorted(), SOON).toEqual([first, last].toSorted());
});

test("agents are listed to the last one, however long they are", async () => {
  const page = await open("agents");
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(AGENTS + 1);
  await page.getByRole("link", { name: `Agent ${AGENTS - 1}` }).waitFor();
  await page.goto(`${tenant.url}/console/requests`);
  await page.getByLabel("Agent").selectOption(`Agent ${AGENTS - 1}`);
});

test("a price that is not on the first page is shown before it is changed, and not replaced unseen", async () => {
  const { data } = await tenant.made(tenant.owner("GET", "/prices?limit=500"));
  const listed = new Set(data.map(({ model }: { model: string }) => model));
  const all = Array.from({ length: MANY }, (_, n) => `vendor/model-${String(n).padStart(3, "0")}`);
  const model = all.find((one) => !listed.has(one))!;
  const input = String(all.indexOf(model));
  const page = await open(`spending?section=prices&edit=${encodeURIComponent(model)}`);
  agreeToAll(page);
  await page.getByRole("heading", { name: `What ${model} costs` }).waitFor();
  expect(await page.getByLabel("Input", { exact: true }).inputValue()).toBe(input);
  await page.goto(`${tenant.url}/console/spending?section=prices`);
  await page.getByLabel("Name of the model").fill(model);
  await page.getByRole("row", { name: model }).waitFor();
  await page.getByLabel("Model", { exact: true }).fill(model);
  await page.getByLabel("Input", { exact: true }).fill("9999");
  await page.getByLabel("Output", { exact: true }).fill("9999");
  await page.getByRole("button", { name: "Set price" }).click();
  await page.getByRole("alert").getByText("is there already, and would be replaced").waitFor();
  await page.getByRole("link", { name: "See and change it" }).click();
  await page.getByRole("heading", { name: `What ${model} costs` }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(await page.getByLabel("Input", { exact: true }).inputValue()).toBe(input);
  const [, provider, name] = /^(.+)\/(.+)$/.exec(model)!;
  expect((await tenant.made(tenant.owner("GET", `/prices/${provider}/${name}`))).prices).toMatchObject([{ input }]);
});
