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
import { setSpanRecorder, withTrace } from "#events/spans.ts";
import type { Settings } from "../config.ts";
import { createRecorder } from "./recorder.ts";
import { createSampler } from "./sampler.ts";

/** Timeout for one batch; after it, the spans are dropped. A stopping process waits for batches in flight. */
const EXPORT_TIMEOUT_MS = 2_000;
const BATCH_DELAY_MS = 1_000;

export interface SpanExportOptions {
  settings: Pick<Settings, "OTEL_SERVICE_NAME" | "OTEL_TRACES_SAMPLER" | "OTEL_TRACES_SAMPLER_ARG">;
  role: string;
  /** Id of this process. */
  instance: string;
  logger: Logger;
}

export interface SpanExport {
  /** Exports the remaining spans, for at most 2 s. */
  close(): Promise<void>;
}

/** Logs once when exports begin to fail, and once when they succeed again. A failed batch has no other effect. */
function logFailures(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false;
  const onResult = (error: Error | undefined, failed: boolean): void => {
    if (failed && !isFailing) logger.warn({ err: error }, "span export failing, spans dropped");
    if (!failed && isFailing) logger.info("span export recovered");
    isFailing = failed;
  };
  return {
    export: (spans, done) =>
      // the export itself belongs to no trace
      withTrace(undefined, () =>
        exporter.export(spans, ({ code, error }) => {
          onResult(error, code !== 0);
          done({ code: 0 });
        }),
      ),
    shutdown: () => exporter.shutdown(),
  };
}

function createResource({ settings, role, instance }: SpanExportOptions) {
  const own = { "service.name": settings.OTEL_SERVICE_NAME, "service.instance.id": instance, "svc.role": role };
  return defaultResource()
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(resourceFromAttributes(own));
}

/**
 * Exports spans in batches, in the background. At most 2,048 spans wait; further ones are dropped. The exporter itself
 * reads `OTEL_EXPORTER_OTLP_HEADERS` and similar settings.
 */
export function sendSpans(url: string, options: SpanExportOptions): SpanExport {
  const exporter = logFailures(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS }), options.logger);
  const provider = new TracerProvider({
    resource: createResource(options),
    sampler: createSampler(options.settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: BATCH_DELAY_MS })],
  });
  const stopRecording = setSpanRecorder(createRecorder(provider.getTracer("svc")));
  return {
    async close() {
      stopRecording();
      await Promise.race([provider.shutdown(), sleep(EXPORT_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}
