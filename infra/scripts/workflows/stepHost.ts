import { z } from "zod";
import { StepFailure, type StepCall } from "#services/workflows/tick.ts";
import { createPlaces } from "../places.ts";

/** Asks of one attempt that are being answered at once; more wait, so that no script fills this process with answers. */
const ANSWERS_AT_ONCE = 4;
/** Methods that change something: what is sent once more is to be known. */
const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const CALLS = ["chat", "agent", "search", "read", "tool"] as const;

const Fetched = z.object({
  url: z.string().max(8_000),
  method: z.string().max(20),
  headers: z.array(z.tuple([z.string().max(200), z.string().max(8_192)])).max(100),
  body: z.string().nullable(),
});

/** Answers what an attempt asks, until it has ended. */
export function createHost({ host, context }: Pick<StepCall, "host" | "context">, ended: AbortSignal) {
  const answers = createPlaces({ places: ANSWERS_AT_ONCE, each: ANSWERS_AT_ONCE });
  let calls = 0;

  function fetched(text: string): Promise<unknown> {
    const { data } = Fetched.safeParse(JSON.parse(text));
    if (!data) throw new Error("fetch: the address, the method or the headers are too long.");
    const { headers, method } = data;
    const isKeyed = headers.some(([name]) => name.toLowerCase() === "idempotency-key");
    if (!isKeyed && CHANGES.has(method.toUpperCase())) headers.push(["Idempotency-Key", context.idempotency_key]);
    return host.fetch(data, ended);
  }
  async function answerTo(what: string, text: string, nth: number): Promise<unknown> {
    if (what === "fetch") return fetched(text);
    if (what === "secret") return host.secret(text);
    const called = CALLS.find((each) => each === what);
    if (!called) throw new Error(`There is no ${what}.`);
    return host.call(called, JSON.parse(text), nth, ended);
  }
  const failed = (error: Error) => {
    const { code, final } = error instanceof StepFailure ? error : { code: undefined, final: undefined };
    return { ok: false, error: { message: error.message, code, final } };
  };

  return {
    /** JSON of `{ok: true, value}` or `{ok: false, error}`; rejects where the attempt has ended before it was its turn. */
    async answer(what: string, text: string): Promise<string> {
      const nth = what === "fetch" || what === "secret" ? 0 : calls++;
      await answers.enter("", ended);
      const answer = await answerTo(what, text, nth).then((value) => ({ ok: true, value: value ?? null }), failed);
      answers.leave("");
      return JSON.stringify(answer);
    },
  };
}
