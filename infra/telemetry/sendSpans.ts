import { setTimeout as sleep } from "node:timers/promises";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { recordSpans, withTrace } from "#events/spans.ts";
import type { Telemetry, TelemetryOptions } from "./open.ts";
import { recorderWith } from "./recorder.ts";
import { samplerOf } from "./sampler.ts";

/** A collector has this long for a batch of spans; then they are lost. What is on its way keeps the process that ends. */
const SEND_MS = 2_000;
const EVERY_MS = 1_000;

/** Says once that the collector cannot be had, and once that it can again. Meanwhile spans are lost, and nothing else is. */
function telling(exporter: SpanExporter, logger: Logger): SpanExporter {
  let lost = false;
  const heard = (error: Error | undefined, failed: boolean): void => {
    if (failed && !lost) logger.warn({ err: error }, "the collector takes no spans, they are lost until it does");
    if (!failed && lost) logger.info("the collector takes spans again");
    lost = failed;
  };
  return {
    export: (spans, done) =>
      // a batch belongs to many traces
      withTrace(undefined, () =>
        exporter.export(spans, ({ code, error }) => {
          heard(error, code !== 0);
          done({ code: 0 });
        }),
      ),
    shutdown: () => exporter.shutdown(),
  };
}

function resourceOf({ settings, role, instance }: TelemetryOptions) {
  const own = { "service.name": settings.OTEL_SERVICE_NAME, "service.instance.id": instance, "svc.role": role };
  return defaultResource()
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(resourceFromAttributes(own));
}

/**
 * Sends spans in batches, beside the work: up to 2,048 wait, what comes on top is lost. The exporter itself reads
 * `OTEL_EXPORTER_OTLP_HEADERS` and the like.
 */
export function sendSpans(url: string, options: TelemetryOptions): Telemetry {
  const exporter = telling(new OTLPTraceExporter({ url, timeoutMillis: SEND_MS }), options.logger);
  const provider = new TracerProvider({
    resource: resourceOf(options),
    sampler: samplerOf(options.settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: EVERY_MS })],
  });
  const stop = recordSpans(recorderWith(provider.getTracer("svc")));
  return {
    async close() {
      stop();
      await Promise.race([provider.shutdown(), sleep(SEND_MS, undefined, { ref: false })]);
    },
  };
}
