import { openSpan, withTrace, type OpenSpan } from "#events/spans.ts";
import { GEN_AI } from "./genAi.ts";
import { ModelError, type Model, type ModelEvent, type ModelRequest } from "./model.ts";

const spanOf = (provider: string, { model, streamed }: ModelRequest): OpenSpan | undefined =>
  openSpan(`chat ${model}`, {
    kind: "client",
    attributes: {
      [GEN_AI.operation]: "chat",
      [GEN_AI.provider]: provider,
      [GEN_AI.system]: provider,
      [GEN_AI.requestModel]: model,
      "svc.streamed": streamed,
    },
  });

function failureOf(error: unknown): string {
  if (error instanceof ModelError) return error.status === undefined ? error.kind : String(error.status);
  return error instanceof Error ? error.name : "error";
}

/** Every step of the answer is taken within its span; whoever has heard the finish leaves the rest. */
async function* within(span: OpenSpan, said: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  const events = said[Symbol.asyncIterator]();
  let failure: string | undefined;
  try {
    for (;;) {
      const { done, value } = await withTrace(span.trace, () => events.next());
      if (done) return;
      if (value.type === "finish")
        span.set({
          [GEN_AI.finishReasons]: [value.finish_reason],
          [GEN_AI.inputTokens]: value.usage.prompt_tokens,
          [GEN_AI.outputTokens]: value.usage.completion_tokens,
        });
      yield value;
    }
  } catch (error) {
    failure = failureOf(error);
    throw error;
  } finally {
    await events.return?.();
    span.end(failure);
  }
}

/** The model, with a span for each request that it is asked. */
export const inSpans = (model: Model, provider: string): Model => ({
  complete(request, signal) {
    const span = spanOf(provider, request);
    return span
      ? within(
          span,
          withTrace(span.trace, () => model.complete(request, signal)),
        )
      : model.complete(request, signal);
  },
});
