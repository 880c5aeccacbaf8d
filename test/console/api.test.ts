import { describe, expect, test } from "vitest";
import { listen } from "../accounts/audit.ts";
import { expectRefusal } from "../hostile/target.ts";
import { startService } from "../http/service.ts";
import { openTenant, UNKNOWN, WAITING, workflowSource } from "../workflows/tenant.ts";

/* Routes that the console needs beyond those of the spec. */

type Tenant = Awaited<ReturnType<typeof openTenant>>;
const service = await startService();
const tenant = await openTenant(service.base, service.credentials);
const stranger = await openTenant(service.base, await service.organization("Other"));

describe("GET /api/workflows/runs", () => {
  test("lists the runs of all workflows of the organization, newest first, with filters", async () => {
    const [one, two] = [
      await tenant.register(workflowSource("return 1;")),
      await tenant.register(workflowSource(`throw new Error("50% of \\"it\\" broke");`)),
    ];
    const first = await tenant.start(one);
    await tenant.untilOver(first);
    const second = await tenant.start(two);
    await tenant.untilOver(second);
    await stranger.run(workflowSource("return 2;"));
    const list = async (query = "", by = tenant) => {
      const { data, total } = await by.made(by.owner("GET", `/workflows/runs?${query}`));
      return [data.map(({ id }: { id: string }) => id), total];
    };
    expect(await list()).toEqual([[second, first], 2]);
    expect(await list("limit=1&offset=1")).toEqual([[first], 2]);
    expect(await list("status=failed")).toEqual([[second], 1]);
    expect(await list(`workflow_id=${one.id}`)).toEqual([[first], 1]);
    expect(await list(`q=${encodeURIComponent('50% OF "IT"')}`)).toEqual([[second], 1]);
    expect(await list("q=no such text")).toEqual([[], 0]);
    const { id: owner } = (await tenant.made(tenant.owner("GET", "/auth/me"))).user;
    const [{ started_by }] = (await tenant.made(tenant.owner("GET", "/workflows/runs?limit=1"))).data;
    const starter = `${started_by.type === "api_key" ? "key" : started_by.type}:${started_by.id}`;
    expect(await list(`started_by=${starter}`)).toEqual([[second, first], 2]);
    const other = starter === `person:${owner}` ? `key:${owner}` : `person:${owner}`;
    expect(await list(`started_by=${other}`)).toEqual([[], 0]);
    expect(await list(`workflow_id=${one.id}`, stranger)).toEqual([[], 0]);
    expect((await tenant.key("GET", "/workflows/runs")).status).toBe(403);
  });
});

describe("GET /api/workflows/runs/{id}/steps", () => {
  test("lists the steps in pages, with values only on request", async () => {
    const source = workflowSource(
      'await ctx.runStepMany("say", ["a", "b", "c"], { concurrency: 1 }); await ctx.runStep("fail").catch(() => {});',
      "say: (word) => word + '!', fail: () => { throw new Error('no') }",
    );
    const run = await tenant.start(await tenant.register(source));
    const { steps: all } = await tenant.untilOver(run);
    const list = (query = "", by: Pick<Tenant, "owner"> = tenant) =>
      by.owner("GET", `/workflows/runs/${run}/steps?${query}`);
    const { data, total } = await tenant.made(list());
    expect(total).toBe(4);
    expect(data).toEqual(
      all.map((step: object & { args: unknown; result: unknown }) => ({
        ...step,
        args: null,
        result: null,
        omitted: ["args", "result"].filter((field) => step[field as "args" | "result"] !== null),
      })),
    );
    expect((await tenant.made(list("limit=2&offset=1&values=true"))).data).toEqual(all.slice(1, 3));
    expect((await tenant.made(list("status=failed"))).data.map(({ name }: { name: string }) => name)).toEqual(["fail"]);
    expectRefusal(await list("values=perhaps"), 400, undefined, "values");
    expect((await list("", stranger)).status).toBe(404);
    const brief = await tenant.made(tenant.owner("GET", `/workflows/runs/${run}?step_values=false`));
    expect(brief.steps).toEqual(data);
    const counted = await tenant.made(tenant.owner("GET", `/workflows/runs/${run}?steps=false`));
    expect(counted).toEqual({ ...brief, steps: [] });
    expect(counted.counts.steps).toBe(4);
  });
});

describe("GET /api/tools", () => {
  test("lists the built-in tools, then the organization's own, for API keys too", async () => {
    const source = `export const meta = { description: "Counts.", parameters: { type: "object" }, secrets: [] };
      export const execute = () => 1;`;
    const { id } = await tenant.made(tenant.owner("POST", "/definitions", { type: "tool", name: "count", source }));
    const { data, total } = await tenant.made(tenant.key("GET", "/tools"));
    expect(data.map(({ name }: { name: string }) => name)).toEqual([
      "search_documents",
      "read_document",
      "web_search",
      "web_fetch",
      "count",
    ]);
    expect(data.at(-1)).toEqual({
      name: "count",
      description: "Counts.",
      built_in: false,
      definition_id: id,
      version: 1,
      parameters: { type: "object" },
    });
    expect(total).toBe(5);
    const page = await tenant.made(tenant.owner("GET", "/tools?limit=2&offset=3"));
    expect(page.data.map(({ name }: { name: string }) => name)).toEqual(["web_fetch", "count"]);
    expect((await stranger.made(stranger.owner("GET", "/tools"))).total).toBe(4);
  });
});

describe("GET /api/workflows/approvals/{id}", () => {
  test("returns an approval to everybody in the organization, and the same 404 to others as for an unknown id", async () => {
    const run = await tenant.start(await tenant.register(WAITING));
    const [approval] = await tenant.pending(run);
    const { call: viewer } = await tenant.member("viewer");
    expect((await viewer("GET", `/workflows/approvals/${approval.id}`)).body).toEqual({
      ...approval,
      may_decide: false,
    });
    for (const [by, id] of [
      [stranger.owner, approval.id],
      [tenant.owner, UNKNOWN],
      [tenant.owner, "nonsense"],
    ] as const)
      expectRefusal(await by("GET", `/workflows/approvals/${id}`), 404, "approval_not_found");
  });
});

describe("GET /api/workflows/approvals", () => {
  test("lists the oldest or the newest first, and refuses another `order` with the valid ones", async () => {
    const workflow = await tenant.register(WAITING);
    const asked: string[] = [];
    for (let n = 0; n < 3; n += 1) asked.push((await tenant.pending(await tenant.start(workflow)))[0]!.id);
    const list = async (query: string) => {
      const { data } = await tenant.made(tenant.owner("GET", `/workflows/approvals?${query}&limit=500`));
      return data.map(({ id }: { id: string }) => id).filter((id: string) => asked.includes(id));
    };
    expect(await list("order=oldest")).toEqual(asked);
    expect(await list("order=newest&status=pending")).toEqual(asked.toReversed());
    expect(await list("mine=true")).toEqual(asked);
    expectRefusal(await tenant.owner("GET", "/workflows/approvals?order=best"), 400, undefined, "order");
  });
});

describe("GET /api/changes", () => {
  const all = async (by: Tenant["owner"]) => (await by("GET", "/changes?limit=500")).body.data as Record<string, any>[];
  const kinds = (changes: Record<string, any>[]) => new Set(changes.map(({ kind }) => kind));

  test("lists only changes that the caller may read, without content", async () => {
    await tenant.made(
      tenant.key("POST", "/openai/v1/chat/completions", {
        model: "offline/echo",
        messages: [{ role: "user", content: "canary-words" }],
      }),
    );
    await tenant.secret("a_secret", "value");
    const run = await tenant.run(workflowSource("return 1;"));
    const [viewer, builder] = [await tenant.member("viewer"), await tenant.member("builder")];
    const seen = { viewer: await all(viewer.call), builder: await all(builder.call), owner: await all(tenant.owner) };
    expect(JSON.stringify(seen)).not.toContain("canary-words");
    expect(seen.viewer).toContainEqual({ cursor: expect.any(String), kind: "run", id: run.id, type: "RunCompleted" });
    for (const kind of ["thread", "secret", "definition", "key", "session"])
      expect(kinds(seen.viewer)).not.toContain(kind);
    expect([...kinds(seen.builder)]).toEqual(expect.arrayContaining(["thread", "secret", "definition"]));
    expect(kinds(seen.builder)).not.toContain("key");
    expect([...kinds(seen.owner)]).toEqual(expect.arrayContaining(["key", "thread"]));
    expect(kinds(seen.owner)).not.toContain("session");
    expect((await all(stranger.owner)).filter(({ id }) => id === run.id)).toEqual([]);
  });

  test("sends changes as they happen, and resumes after the last one", async () => {
    const url = `${service.base}/api/changes`;
    const first = await listen(url, tenant.token);
    const run = await tenant.run(workflowSource("return 1;"));
    const about = () => first.received().filter((change: any) => change.id === run.id);
    await expect.poll(() => about().at(-1)?.type).toBe("RunCompleted");
    const [created] = about();
    await first.close();
    const again = await listen(url, tenant.token, { "last-event-id": created!.cursor });
    await expect.poll(() => again.received().at(-1)?.type).toBe("RunCompleted");
    expect(again.received().filter((change: any) => change.id === run.id && change.type === "RunCreated")).toEqual([]);
    await again.close();
  });

  test("names its starting position, so that nothing is missed if the connection breaks before the first change", async () => {
    const url = `${service.base}/api/changes`;
    const first = await listen(url, tenant.token);
    await expect.poll(() => first.raw()).toMatch(/^id: \S+\n\n/);
    const [, begin = ""] = /^id: (\S+)\n\n/.exec(first.raw()) ?? [];
    await first.close();
    const run = await tenant.run(workflowSource("return 1;"));
    await stranger.run(workflowSource("return 2;"));
    const again = await listen(url, tenant.token, { "last-event-id": begin });
    const about = () => again.received().filter((change: any) => change.id === run.id);
    await expect
      .poll(() => about().map(({ type }) => type))
      .toEqual(expect.arrayContaining(["RunCreated", "RunCompleted"]));
    await again.close();
    // nothing reveals that another organization wrote events in between
    const newest = async () => (await tenant.made(tenant.owner("GET", "/changes?limit=500"))).next_after;
    const before = await newest();
    await stranger.run(workflowSource("return 3;"));
    const quiet = await listen(url, tenant.token);
    await expect.poll(() => quiet.raw()).toContain(`id: ${before}\n\n`);
    await quiet.close();
  });
});
