import { beforeAll, expect, test } from "vitest";
import { SOON } from "../soon.ts";
import { agreeToAll, openConsole, type Console } from "./browser.ts";

/* An organization with more of everything than the first page of a list has. */

const MANY = 501;
/** An agent of 60 kB: a page of 2 MB has 33 of them. */
const INSTRUCTIONS = "Answer in one sentence. ".repeat(2_500);
const AGENTS = 40;

let tenant: Console["tenant"];
let open: Console["open"];
let members: string[];
let keys: string[];

/** A number in three digits, and the same in SQL. */
const numbered = (n: number): string => String(n).padStart(3, "0");
const NUMBER = "lpad(n::text, 3, '0')";
/** The columns in which the n-th copy of a row differs. Names are JSON texts. To create as many items by requests would take minutes. */
const COPIES = {
  users: `'name', to_json('Person ' || ${NUMBER})::text, 'email', to_json('person.' || n || '@example.org')::text,
    'role', 'approver', 'created_at', row.created_at + n * interval '1 second'`,
  keys: `'name', to_json('Key ' || ${NUMBER})::text, 'key_hash', md5('a' || n) || md5('b' || n),
    'created_at', row.created_at + n * interval '1 second'`,
  prices: `'model', to_json('vendor/model-' || ${NUMBER})::text, 'created_at', row.created_at - n * interval '1 second'`,
};

/** Copies the one row that the organization has, for 1 to MANY; the ids. */
async function copyRow(db: Console["service"]["db"], name: keyof typeof COPIES): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `insert into read.${name}
     select (jsonb_populate_record(row, jsonb_build_object('id', gen_random_uuid(), ${COPIES[name]}))).*
     from read.${name} row, generate_series(1, ${MANY}) n where row.organization_id = $1 order by n
     returning id`,
    [tenant.organization_id],
  );
  return rows.map(({ id }) => id);
}

beforeAll(async () => {
  const { service, ...console } = await openConsole();
  ({ tenant, open } = console);
  const prices = [{ input: "2.5", output: "1" }];
  await tenant.made(tenant.owner("PUT", "/prices/vendor/model-last", { prices }));
  [members, keys] = [await copyRow(service.db, "users"), await copyRow(service.db, "keys")];
  await copyRow(service.db, "prices");
  // one after the other: a busy machine refuses many long ones at once
  for (let n = 0; n < AGENTS; n++) await tenant.newAgent({ name: `Agent ${n}`, instructions: INSTRUCTIONS });
});

test("filters find the last member and the first key, and askers are shown by name", async () => {
  const [member, key] = [members.at(-1)!, keys[0]!];
  const page = await open(`members?q=Person+${numbered(MANY)}`);
  await page.getByRole("link", { name: `Person ${numbered(MANY)}` }).waitFor();
  // newest first
  await page.goto(`${tenant.url}/console/keys?q=Key+001`);
  await page.getByRole("link", { name: "Key 001" }).waitFor();
  const asker = page.getByLabel("Asked by");
  const chosen = () => asker.evaluate((select: any) => select.selectedOptions[0].textContent);
  await page.goto(`${tenant.url}/console/requests?who=person:${member}`);
  await expect.poll(chosen, SOON).toBe(`Person ${numbered(MANY)}`);
  await page.goto(`${tenant.url}/console/requests?who=key:${key}`);
  await expect.poll(chosen, SOON).toBe("key Key 001");
  await page.goto(`${tenant.url}/console/privacy?section=erasures&subject=person:${member}`);
  await expect.poll(() => page.getByLabel("Which one").inputValue(), SOON).toBe(member);
});

test("the last member stays in a group that is edited", async () => {
  const [first, last] = [members[0]!, members.at(-1)!];
  await tenant.made(tenant.owner("PUT", "/groups/late", { members: [last] }));
  const page = await open("settings?section=groups&edit=late");
  const box = (n: number) => page.getByLabel(`Person ${numbered(n)}`);
  await expect.poll(() => box(MANY).isChecked(), SOON).toBe(true);
  await box(1).check();
  await page.getByRole("button", { name: "Change group" }).click();
  const inIt = async () => (await tenant.made(tenant.owner("GET", "/groups/late"))).members.map(({ id }: any) => id);
  await expect.poll(async () => (await inIt()).toSorted(), SOON).toEqual([first, last].toSorted());
});

test("agents are listed completely, however long they are", async () => {
  const page = await open("agents");
  // the organization begins with one, and the table with its titles
  await expect.poll(() => page.getByRole("row").count(), SOON).toBe(AGENTS + 2);
  await page.goto(`${tenant.url}/console/requests`);
  await page.getByLabel("Agent").selectOption(`Agent ${AGENTS - 1}`);
});

test("a price beyond the first page is shown before it is changed, and is not replaced unseen", async () => {
  const model = "vendor/model-last";
  const { data } = await tenant.made(tenant.owner("GET", "/prices?limit=500"));
  expect(data.map((one: { model: string }) => one.model)).not.toContain(model);
  const page = await open("spending?section=prices&edit=vendor/model-last");
  agreeToAll(page);
  const input = () => page.getByLabel("Input", { exact: true }).inputValue();
  await page.getByRole("heading", { name: `What ${model} costs` }).waitFor();
  expect(await input()).toBe("2.5");
  await page.goto(`${tenant.url}/console/spending?section=prices`);
  await page.getByLabel("Name of the model").fill("model-last");
  await page.getByRole("row", { name: model }).waitFor();
  await page.getByLabel("Model", { exact: true }).fill(model);
  await page.getByLabel("Input", { exact: true }).fill("9999");
  await page.getByLabel("Output", { exact: true }).fill("9999");
  await page.getByRole("button", { name: "Set price" }).click();
  await page.getByRole("alert").getByText("is there already, and would be replaced").waitFor();
  await page.getByRole("link", { name: "See and change it" }).click();
  await page.getByRole("heading", { name: `What ${model} costs` }).waitFor();
  expect([await page.getByRole("alert").count(), await input()]).toEqual([0, "2.5"]);
  const { prices } = await tenant.made(tenant.owner("GET", "/prices/vendor/model-last"));
  expect(prices).toMatchObject([{ input: "2.5" }]);
});
