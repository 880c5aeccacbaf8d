import { expect, test } from "vitest";
import { readSettings } from "./config.ts";

const key = Buffer.alloc(32, 7).toString("base64");

test("an empty environment gives the defaults", () => {
  expect(readSettings({})).toMatchObject({
    PORT: 8080,
    HOST: "127.0.0.1",
    DATA_DIR: ".data",
    BASE_URL: "http://127.0.0.1:8080",
    SERVICE_NAME: "svc",
    BUS_PREFIX: "svc",
    PRIVATE_PROVIDER_HOSTS: [],
    OFFLINE_MODELS: true,
    LOG_LEVEL: "info",
    TURN_SECONDS: 600,
    SCRUB_DAYS: 7,
    READERS: expect.any(Number),
  });
});

test("an empty variable counts as absent", () => {
  expect(readSettings({ PORT: "", DATABASE_URL: " ", LOG_LEVEL: "" })).toMatchObject({ PORT: 8080, LOG_LEVEL: "info" });
});

test("offline models are off in production unless asked for", () => {
  expect(readSettings({ NODE_ENV: "production" }).OFFLINE_MODELS).toBe(false);
  expect(readSettings({ NODE_ENV: "production", OFFLINE_MODELS: "on" }).OFFLINE_MODELS).toBe(true);
  expect(readSettings({ OFFLINE_MODELS: "off" }).OFFLINE_MODELS).toBe(false);
});

test("lists are split, a base URL loses its last slash, NATS may name several servers", () => {
  const settings = readSettings({
    PRIVATE_PROVIDER_HOSTS: "llm.internal, 10.0.0.7,",
    BASE_URL: "https://a.example/",
    NATS_URL: "nats://a:4222,nats://b:4222",
    NATS_REPLICAS: "3",
  });
  expect(settings.PRIVATE_PROVIDER_HOSTS).toEqual(["llm.internal", "10.0.0.7"]);
  expect(settings.BASE_URL).toBe("https://a.example");
  expect(settings.NATS_URL).toBe("nats://a:4222,nats://b:4222");
  expect(settings.NATS_REPLICAS).toBe(3);
  expect(() => readSettings({ NATS_REPLICAS: "3" })).toThrow(/^ {2}NATS_REPLICAS must be 1 without NATS_URL/m);
});

test("everything wrong is told at once, by name, without a value", () => {
  const wrong = {
    PORT: "eighty",
    BASE_URL: "example",
    SERVICE_NAME: "My Service",
    DATABASE_URL: "mysql://root:hidden@db/x",
    NATS_URL: "nats://a:4222,http://b",
    NATS_REPLICAS: "2",
    MEILI_URL: "http://search:7700",
    MASTER_KEY: "short-secret",
    OFFLINE_MODELS: "maybe",
    TRUST_PROXY: "everybody",
    LOG_LEVEL: "loud",
    TURN_SECONDS: "0",
    OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "localhost:4318/v1/traces",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization: hidden",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-key=hidden%",
    OTEL_RESOURCE_ATTRIBUTES: "stage",
    OTEL_SDK_DISABLED: "yes",
    OTEL_TRACES_EXPORTER: "console",
    OTEL_TRACES_SAMPLER: "sometimes",
    OTEL_TRACES_SAMPLER_ARG: "2",
  };
  const tell = () => readSettings(wrong);
  const { MEILI_URL: _right, ...alone } = wrong;
  for (const name of Object.keys(alone)) expect(tell).toThrow(new RegExp(`^ {2}${name} must be `, "m"));
  expect(tell).toThrow(/^ {2}MEILI_MASTER_KEY is required beside MEILI_URL$/m);
  expect(tell).not.toThrow(/hidden|short-secret/);
});

test("a database of the deployment's own needs its master key", () => {
  const DATABASE_URL = "postgres://u:p@db/x";
  expect(() => readSettings({ DATABASE_URL })).toThrow(/MASTER_KEY is required beside DATABASE_URL/);
  expect(readSettings({ DATABASE_URL, MASTER_KEY: key }).MASTER_KEY).toBe(key);
});

test("user and password of NATS stand in the first address, and are those of all", () => {
  const read = (NATS_URL: string) => () => readSettings({ NATS_URL });
  const wrong = /^ {2}NATS_URL must have user and password in its first address: they are those of all$/m;
  for (const url of ["nats://a,nats://u:hidden@b", "nats://u:p@a,nats://u:hidden@b", "nats://u:p@a, nats://t@b"]) {
    expect(read(url)).toThrow(wrong);
    expect(read(url)).not.toThrow(/hidden/);
  }
  for (const url of ["nats://u:p@a,nats://b", "nats://u:p@a,nats://u:p@b", "nats://t@a:1,nats://t@b"])
    expect(read(url)).not.toThrow();
});

test("telemetry's own settings are read as OpenTelemetry has them", () => {
  const right = {
    OTEL_SDK_DISABLED: "TRUE",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:4318/v1/traces?x=1",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20YTpi, x-tenant = a=b,",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=%C3%A4",
  };
  expect(readSettings(right).OTEL_SDK_DISABLED).toBe("true");
  expect(() => readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/base?x=1" })).toThrow(
    /^ {2}OTEL_EXPORTER_OTLP_ENDPOINT must have no query/m,
  );
  expect(() => readSettings({ OTEL_EXPORTER_OTLP_HEADERS: "x=1%0Ay" })).toThrow(/OTEL_EXPORTER_OTLP_HEADERS must be/);
});
