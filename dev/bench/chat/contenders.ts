import { dirname, join } from "node:path";
import { type Child, freePort, startNode } from "../tools/child.ts";
import { startService } from "../tools/service.ts";
import { waitForAnswer } from "../tools/waitUntil.ts";
import type { Target } from "./askQuestion.ts";

/** A process that answers chat completions. */
export interface Contender {
  target: Target;
  child: Child;
  stop(): Promise<void>;
}

const bench = dirname(import.meta.dirname);

/** The mock provider itself. */
export const startProvider = async (): Promise<Contender> => {
  const child = startNode([join(import.meta.dirname, "provider.ts")]);
  const target = {
    name: "direct",
    origin: await child.firstLine(),
    path: "/v1/chat/completions",
    headers: {},
    model: "mock",
  };
  return { target, child, stop: child.stop };
};

/**
 * Portkey's gateway from its npm package, with default settings. package.json pins its HTTP library to 1.14.1: with newer versions,
 * the gateway answers every streamed request with 500 ("immutable" headers).
 */
export const startPortkey = async (provider: string): Promise<Contender> => {
  const port = await freePort();
  const script = join(bench, "node_modules/@portkey-ai/gateway/build/start-server.js");
  const child = startNode([script, `--port=${port}`, "--headless"], {
    NODE_ENV: "production",
    TRUSTED_CUSTOM_HOSTS: "127.0.0.1",
  });
  const origin = `http://127.0.0.1:${port}`;
  await waitForAnswer(child, origin);
  const headers = {
    authorization: "Bearer mock",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `${provider}/v1`,
  };
  return {
    target: { name: "portkey", origin, path: "/v1/chat/completions", headers, model: "mock" },
    child,
    stop: child.stop,
  };
};

/** This service, with the mock provider as its only model. */
export const startPlatform = async (provider: string): Promise<Contender> => {
  const service = await startService({ OPENAI_BASE_URL: `${provider}/v1`, OPENAI_API_KEY: "mock" });
  const { origin } = new URL(service.credentials.base_url);
  const headers = { authorization: `Bearer ${service.credentials.api_key}` };
  const path = "/api/openai/v1/chat/completions";
  return {
    target: { name: "service", origin, path, headers, model: "openai/mock" },
    child: service.child,
    stop: service.stop,
  };
};
