import { describe, expect, test, vi } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf, fileForm, say } from "../http/service.ts";
import { code, openTenant, workflowSource } from "../workflows/tenant.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople } from "./people.ts";

/* Limits on stored data, on pages read, and on concurrent work (docs/spending.md#what-is-stored-and-runs). */

const people = await openPeople();
const soon = { timeout: 30_000, interval: 200 };

async function newTenant() {
  const credentials = await people.service.organization("Limited");
  const tenant = await openTenant(people.service.base, credentials);
  await tenant.made(tenant.owner("POST", "/v1/knowledge/collections", { name: "Shelf" }));
  const limitOf = async (subject = "organization") =>
    (await tenant.made(tenant.owner("GET", `/budgets/${subject}`))).limits[0];
  return {
    ...tenant,
    first: clientOf(people.service, credentials.api_key),
    set: (subject: string, body: object) => tenant.owner("PUT", `/budgets/${subject}`, body),
    limitOf,
    push: (text: string, by = tenant.key) =>
      by("POST", "/v1/knowledge/collections/shelf/documents/text", { text, name: text }),
    upload: (bytes: number, by = tenant.key, fields: Record<string, string> = {}) =>
      by("POST", "/openai/v1/files", fileForm("x".repeat(bytes), "a.txt", { fields })),
  };
}

describe("a limit of", () => {
  test("documents refuses uploads with the figure that it shows, until one is deleted", async () => {
    const { set, push, limitOf, owner, made } = await newTenant();
    await made(push("zero"));
    expect((await set("organization", { documents: 5 })).body.limits).toEqual([
      { name: "documents", limit: "5", spent: "1", left: "4", percent: 20, period: "now", ends_at: null },
    ]);
    const answers = await Promise.all(["a", "b", "c", "d", "e", "f", "g"].map((text) => push(text)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 402, 402, 402]);
    const refused = answers.find(({ status }) => status === 402)!;
    expectRefusal(refused, 402, "budget_exceeded");
    expect(refused.body.error.message).toContain("The budget organization has used 5 of 5 documents (documents)");
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(await limitOf()).toMatchObject({ limit: "5", spent: "5", percent: 100 });
    const existing = answers.find(({ status }) => status === 202)!;
    await made(owner("DELETE", `/v1/knowledge/documents/${existing.body.id}`));
    expect((await push("h")).headers.get("x-budget-warning")).toBe("organization; documents; 5 of 5");
    await vi.waitFor(async () => {
      const reached = (await readAllEvents(owner)).filter(({ type }) => type === "BudgetReached");
      expect(reached.map(({ data }: any) => data.percent)).toContain(100);
      expect(reached.length).toBeLessThanOrEqual(2);
    }, soon);
  });

  test("stored bytes counts files and attachments for key, user and organization", async () => {
    const { set, upload, limitOf, newKey, first, key, made } = await newTenant();
    const other = await newKey();
    await made(set("organization", { stored_bytes: 100 }));
    await made(set("each-user", { stored_bytes: 60 }));
    await made(set(`key:${other.id}`, { stored_bytes: 30 }));
    const mine = await made(upload(50, key, { user: "ada" }));
    const refused = await upload(20, key, { user: "ada" });
    expectRefusal(refused, 402, "budget_exceeded");
    expect(refused.body.error.message).toContain("each-user has used 50 of 60 bytes (stored_bytes)");
    expectRefusal(await upload(31, other.call), 402, "budget_exceeded");
    await made(upload(30, other.call));
    const attached = {
      type: "file",
      file: { filename: "a.txt", file_data: `data:text/plain;base64,${btoa("y".repeat(21))}` },
    };
    const send = () =>
      first("POST", "/chat/completions", { model: "offline/echo", messages: [{ role: "user", content: [attached] }] });
    expectRefusal(await send(), 402, "budget_exceeded");
    expect(await limitOf()).toMatchObject({ spent: "80" });
    await made(key("DELETE", `/openai/v1/files/${mine.id}?user=ada`));
    expect((await send()).status).toBe(200);
    expect(await limitOf()).toMatchObject({ spent: "51" });
  });

  test("stored bytes frees those of an attachment at once when its prompt is refused", async () => {
    const { set, first, limitOf, made } = await newTenant();
    await made(set("organization", { stored_bytes: 400_000 }));
    const attached = (bytes: number) => ({
      type: "file",
      file: { filename: "a.txt", file_data: `data:text/plain;base64,${btoa("y".repeat(bytes))}` },
    });
    const send = (...content: object[]) =>
      first("POST", "/chat/completions", { model: "offline/echo", messages: [{ role: "user", content }] });
    const long = { type: "text", text: "x".repeat(300_000) };
    expectRefusal(await send(long, attached(200_000)), 402, "budget_exceeded");
    expect((await send(attached(300_000))).status).toBe(200);
    expect(await limitOf()).toMatchObject({ spent: "300000" });
  });

  test("pages refuses the next upload once they are used up, and says when the period resets", async () => {
    const { set, push, limitOf, made } = await newTenant();
    await made(set("organization", { pages_per_day: 1 }));
    await made(push("one page"));
    await vi.waitFor(async () => expect(await limitOf()).toMatchObject({ spent: "1", percent: 100 }), soon);
    const refused = await push("another");
    expectRefusal(refused, 402, "budget_exceeded");
    expect(refused.body.error.message).toContain("has used 1 of 1 pages (pages_per_day). It begins again at");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await made(push("one page"))).name).toBe("one page");
  });

  test("pages refuses to read a file again, but not to index it again, nor a repeated request", async () => {
    const { set, limitOf, owner, key, made } = await newTenant();
    const path = "/v1/knowledge/documents";
    const shelf = "/v1/knowledge/collections/shelf/documents";
    const { id } = await made(key("POST", shelf, fileForm("One page.", "page.md")));
    const ready = () =>
      vi.waitFor(async () => expect((await made(owner("GET", `${path}/${id}`))).status).toBe("ready"), soon);
    const again = (query = "", headers: Record<string, string> = {}) =>
      key("POST", `${path}/${id}/reprocess${query}`, {}, headers);
    const read = () => again("?reextract=true", { "idempotency-key": "read-again" });
    await ready();
    await made(read());
    await ready();
    await made(set("organization", { pages_per_day: 2 }));
    await vi.waitFor(async () => expect(await limitOf()).toMatchObject({ spent: "2" }), soon);
    expectRefusal(await again("?reextract=true"), 402, "budget_exceeded");
    await made(read());
    await made(again());
    await ready();
    expect(await limitOf()).toMatchObject({ spent: "2" });
    await made(owner("DELETE", "/budgets/organization"));
    await made(again("?reextract=true"));
  });

  test("money refuses an upload only if pages have a price", async () => {
    const { set, push, owner, made } = await newTenant();
    await made(set("organization", { cost_per_day: "0.5" }));
    await made(owner("PUT", "/prices/reading/pages", { prices: [{ per_page: "0.5" }] }));
    await made(push("one page"));
    const spent = async () => (await made(owner("GET", "/budgets/organization"))).limits[0].spent;
    await vi.waitFor(async () => expect(await spent()).toBe("0.5"), soon);
    const refused = await push("another");
    expectRefusal(refused, 402, "budget_exceeded");
    expect(refused.body.error.message).toContain("has used 0.5 of 0.5 US dollars (cost_per_day). It begins again at");
    expectRefusal(await owner("POST", "/v1/extractions", fileForm("# A", "a.md")), 402, "budget_exceeded");
    await made(owner("DELETE", "/prices/reading/pages"));
    await vi.waitFor(async () => expect((await push("another")).status).toBeLessThan(300), soon);
  });

  test("a project keeps the usage and storage of its deleted key, as the report shows", async () => {
    const { set, push, upload, newKey, owner, made, project } = await newTenant();
    const { id: project_id } = await project("Venture");
    const key = await newKey({ project_id });
    await made(owner("PUT", "/prices/reading/pages", { prices: [{ per_page: "0.5" }] }));
    const subject = `project:${project_id}`;
    await made(set(subject, { pages_per_month: 3, cost_per_month: "3", stored_bytes: 1_000, documents: 3 }));
    await made(push("one page", key.call));
    await made(upload(50, key.call));
    const spent = async () => {
      const { limits } = await made(owner("GET", `/budgets/${subject}`));
      return Object.fromEntries(limits.map((limit: any) => [limit.name, limit.spent]));
    };
    const reported = async () =>
      (await made(owner("GET", "/usage?group_by=project"))).data.find((row: any) => row.project === project_id);
    const all = { pages_per_month: "1", cost_per_month: "0.5", stored_bytes: "58", documents: "1" };
    await vi.waitFor(async () => expect(await spent()).toEqual(all), soon);
    expect(await reported()).toMatchObject({ name: "Venture", pages: 1, cost: "0.5" });
    await made(owner("DELETE", `/keys/${key.id}`));
    expect(await spent()).toEqual(all);
    expect(await reported()).toMatchObject({ name: "Venture", pages: 1, cost: "0.5" });
    // the next key of the project meets the same figure
    const next = await newKey({ project_id });
    await made(set(subject, { pages_per_month: 1 }));
    expectRefusal(await push("another", next.call), 402, "budget_exceeded");
  });

  test("concurrent runs refuses with 429 until one ends", async () => {
    const { set, register, start, owner, limitOf, made } = await newTenant();
    const workflow = await register();
    await made(set("organization", { concurrent_runs: 2 }));
    const [one] = [await start(workflow), await start(workflow)];
    const begin = () => owner("POST", `/workflows/${workflow.id}/runs`, { args: {} });
    const refused = await begin();
    expect(code(refused)).toEqual([429, "rate_limited"]);
    expect(refused.body.error.message).toContain("concurrent_runs of organization is reached: 2 of 2 runs at a time");
    expect(await limitOf()).toMatchObject({ spent: "2", ends_at: null });
    await made(owner("POST", `/workflows/runs/${one}/cancel`, {}));
    await vi.waitFor(async () => expect((await begin()).status).toBeLessThan(300), soon);
  });

  test("concurrent runs of a key counts retries of its runs, also those that others start", async () => {
    const { set, register, start, untilOver, newKey, limitOf, owner, made } = await newTenant();
    const key = await newKey();
    const failed = await start(await register(workflowSource('throw new Error("no stock");')), {}, key.call);
    expect((await untilOver(failed)).status).toBe("failed");
    await made(set(`key:${key.id}`, { concurrent_runs: 1 }));
    await start(await register(), {}, key.call);
    const retried = await owner("POST", `/workflows/runs/${failed}/retry`);
    expect(code(retried)).toEqual([429, "rate_limited"]);
    expect(retried.body.error.message).toContain(`concurrent_runs of key:${key.id} is reached: 1 of 1 runs at a time`);
    expect(await limitOf(`key:${key.id}`)).toMatchObject({ spent: "1" });
  });

  test("concurrent streams does not limit other turns", async () => {
    const { set, first, made } = await newTenant();
    await made(set("organization", { concurrent_streams: 0 }));
    const refused = await first("POST", "/chat/completions", say("Hi", { stream: true }));
    expectRefusal(refused, 429, "rate_limited");
    expect([refused.headers.get("x-should-retry"), refused.headers.get("retry-after")]).toEqual(["false", null]);
    expect((await first("POST", "/chat/completions", say("Hi"))).status).toBe(200);
  });

  test.each([
    ["each-user", { documents: 1 }, "documents"],
    ["agent:0198c0de-0000-7000-8000-00000000000f", { concurrent_runs: 1 }, "concurrent_runs"],
    ["organization", { stored_bytes: -1 }, "stored_bytes"],
  ])("%s cannot be %o", async (subject, body, param) =>
    expectRefusal(await people.owner("PUT", `/budgets/${subject}`, body), 400, undefined, param),
  );
});
