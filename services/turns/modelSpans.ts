import { openSpan, withTrace, type OpenSpan } from "#events/spans.ts";
import { GEN_AI } from "./genAi.ts";
import { ModelError, type Model, type ModelEvent, type ModelRequest } from "./model.ts";

const openModelSpan = (provider: string, { model, streamed }: ModelRequest): OpenSpan | undefined =>
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

function describeFailure(error: unknown): string {
  if (error instanceof ModelError) return error.status === undefined ? error.kind : String(error.status);
  return error instanceof Error ? error.name : "error";
}

/** Pulls each event of the answer within the span. The consumer may stop after `finish`. */
async function* traceEvents(span: OpenSpan, answer: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  const events = answer[Symbol.asyncIterator]();
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
          [GEN_AI.cacheReadTokens]: value.usage.cached_tokens,
          [GEN_AI.cacheWriteTokens]: value.usage.cache_write_tokens ?? 0,
        });
      yield value;
    }
  } catch (error) {
    failure = describeFailure(error);
    throw error;
  } finally {
    await events.return?.();
    span.end(failure);
  }
}

/** A model that records a span for each request. */
export const withModelSpans = (model: Model, provider: string): Model => ({
  complete(request, signal) {
    const span = openModelSpan(provider, request);
    return span
      ? traceEvents(
          span,
          withTrace(span.trace, () => model.complete(request, signal)),
        )
      : model.complete(request, signal);
  },
});
