import { findExcess } from "#events/jsonLimits.ts";
import { writeInPieces } from "#events/largeJson.ts";
import { createLimiter } from "#services/sharing/fairSemaphore.ts";
import { isPlatformCall } from "#services/workflows/stepInputs.ts";
import { StepFailure, type StepCall } from "#services/workflows/tick.ts";
import { readFetchRequest } from "../fetchRequest.ts";
import { createWriteKeys } from "./writeKeys.ts";

/** Requests of one attempt answered at the same time. Others wait, so that no script fills this process with answers. */
const MAX_ANSWERS_AT_ONCE = 4;

/** Maximum JSON tokens of a call, as `findExcess` counts them. */
const MAX_CALL_TOKENS = 50_000;

/** Answers an attempt's requests through its host until the attempt has ended. */
export function createHostResponder({ host, context }: Pick<StepCall, "host" | "context">, ended: AbortSignal) {
  const limitAnswers = createLimiter(MAX_ANSWERS_AT_ONCE);
  const addWriteKey = createWriteKeys(context.idempotency_key);
  let platformCalls = 0;

  function fetch(json: string): Promise<unknown> {
    const request = readFetchRequest(json);
    addWriteKey(request);
    return host.fetch(request, ended);
  }
  async function answer(what: string, text: string, nth: number): Promise<unknown> {
    if (what === "fetch") return fetch(text);
    if (what === "secret") return host.secret(text);
    if (!isPlatformCall(what)) throw new Error(`There is no ${what}.`);
    const excess = findExcess(Buffer.from(text), MAX_CALL_TOKENS);
    if (excess) throw new Error(`${what}: the JSON of the call ${excess}.`);
    return host.call(what, JSON.parse(text), nth, ended);
  }
  const failed = (error: Error) => {
    const { code, final } = error instanceof StepFailure ? error : { code: undefined, final: undefined };
    return { ok: false, error: { message: error.message, code, final } };
  };

  return {
    /** JSON of `{ok: true, value}` or `{ok: false, error}`, in pieces. Throws if the attempt ends while the request waits. */
    async *respond(what: string, text: string): AsyncGenerator<string> {
      const nth = what === "fetch" || what === "secret" ? 0 : platformCalls++;
      const work = () => answer(what, text, nth).then((value) => ({ ok: true, value: value ?? null }), failed);
      yield* writeInPieces(await limitAnswers(work, ended));
    },
  };
}
