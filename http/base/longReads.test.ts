import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { createLongReads, readInTurn } from "./longReads.ts";
import { requestAge, trackRequestTime } from "./requestTime.ts";

const requestOf = (organization_id: string) => ({ caller: { organization_id } }) as unknown as FastifyRequest;

/** Reads with three places, two of them for one organization. `begun` lists the reads that have a place. */
function stage(maxWaiting?: number) {
  const reads = createLongReads(createFairSemaphore({ total: 3, perTenant: 2 }), maxWaiting);
  const begun: string[] = [];
  const begin = (name: string) => {
    const request = requestOf(name[0]!);
    const place = reads.begin(request).then(() => void begun.push(name));
    return { request, place, end: () => reads.end(request) };
  };
  return { reads, begun, begin };
}

test("an organization gets two long answers at a time, and another organization does not wait for them", async () => {
  const { begun, begin } = stage();
  const [first] = ["a1", "a2", "a3", "a4", "b1"].map(begin);
  await expect.poll(() => begun.toSorted()).toEqual(["a1", "a2", "b1"]);
  first!.end();
  await expect.poll(() => begun.slice(3)).toEqual(["a3"]);
});

test("a request keeps its place until it ends, and releases it once", async () => {
  const { reads, begun, begin } = stage();
  const one = begin("a1");
  await one.place;
  await reads.begin(one.request);
  one.end();
  one.end();
  for (const name of ["a2", "a3", "a4"]) void begin(name);
  await expect.poll(() => begun).toEqual(["a1", "a2", "a3"]);
});

test("a client that disconnects while it waits leaves no place occupied", async () => {
  const { begun, begin } = stage();
  const [first, second, third] = ["a1", "a2", "a3"].map(begin);
  await expect.poll(() => begun).toEqual(["a1", "a2"]);
  third!.end();
  await expect(third!.place).rejects.toThrow();
  first!.end();
  second!.end();
  for (const name of ["a4", "a5"]) void begin(name);
  await expect.poll(() => begun.slice(2)).toEqual(["a4", "a5"]);
});

test("a read is refused while too many of its organization wait, and may be repeated", async () => {
  const { reads, begun, begin } = stage(2);
  const [first] = ["a1", "a2", "a3", "a4"].map(begin);
  const refused = requestOf("a");
  await expect(reads.begin(refused)).rejects.toMatchObject({ status: 429, errorCode: "rate_limited" });
  await begin("b1").place;
  first!.end();
  await expect.poll(() => begun).toContain("a3");
  const repeated = reads.begin(refused);
  reads.end(refused);
  await expect(repeated).rejects.toThrow("aborted");
});

test.each(["begin", "readInTurn"] as const)(
  "a wait for a place (%s) leaves the reads after it their time",
  async (way) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const app = Fastify();
    onTestFinished(async () => {
      vi.useRealTimers();
      await app.close();
    });
    const longReadPlaces = {
      ...createFairSemaphore({ total: 1, perTenant: 1 }),
      acquire: async () => void vi.advanceTimersByTime(2_500),
    };
    const reads = createLongReads(longReadPlaces);
    trackRequestTime(app);
    app.addHook("onRequest", async (_request, reply: FastifyReply) => {
      Object.defineProperty(reply, "elapsedTime", { value: 3_000 });
    });
    app.get("/", async (request) => {
      if (way === "begin") await reads.begin(Object.assign(request, { caller: { organization_id: "a" } }) as never);
      return {
        age: way === "begin" ? requestAge() : await readInTurn({ longReadPlaces }, "a", async () => requestAge()),
      };
    });
    expect((await app.inject("/")).json()).toEqual({ age: 500 });
  },
);
