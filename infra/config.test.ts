import { expect, test } from "vitest";
import { readSettings } from "./config.ts";

const key = Buffer.alloc(32, 7).toString("base64");

test("settings have defaults in an empty environment", () => {
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

test("an empty setting counts as absent", () => {
  expect(readSettings({ PORT: "", DATABASE_URL: " ", LOG_LEVEL: "" })).toMatchObject({ PORT: 8080, LOG_LEVEL: "info" });
});

test("offline models are off in production unless OFFLINE_MODELS turns them on", () => {
  expect(readSettings({ NODE_ENV: "production" }).OFFLINE_MODELS).toBe(false);
  expect(readSettings({ NODE_ENV: "production", OFFLINE_MODELS: "on" }).OFFLINE_MODELS).toBe(true);
  expect(readSettings({ OFFLINE_MODELS: "off" }).OFFLINE_MODELS).toBe(false);
});

test("settings accept lists, a base URL with a trailing slash, and several NATS servers", () => {
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

test("all invalid settings are reported at once, by name, without their values", () => {
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
    TRUST_PROXY: "all",
    CORS_ORIGINS: "app.example.com",
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
  const read = () => readSettings(wrong);
  const { MEILI_URL: _valid, ...invalid } = wrong;
  for (const name of Object.keys(invalid)) expect(read).toThrow(new RegExp(`^ {2}${name} must be `, "m"));
  expect(read).toThrow(/^ {2}MEILI_MASTER_KEY is required with MEILI_URL, or MEILI_API_KEY is$/m);
  expect(read).not.toThrow(/hidden|short-secret/);
});

test("a password of NATS that is not percent-encoded is refused, and not printed", () => {
  const read = (NATS_URL: string) => () => readSettings({ NATS_URL });
  expect(read("nats://svc:hid%den@a:4222,nats://b:4222")).toThrow(
    /^ {2}NATS_URL must have user and password percent-encoded, such as %25 for a percent sign$/m,
  );
  expect(read("nats://svc:hid%den@a:4222")).not.toThrow(/hid/);
  for (const login of ["svc:hid%25den@", "svc:%40%2F@", "token@", ""])
    expect(read(`nats://${login}a:4222`)).not.toThrow();
});

test("CORS_ORIGINS are origins as browsers write them, or * alone", () => {
  const read = (CORS_ORIGINS: string) => readSettings({ CORS_ORIGINS }).CORS_ORIGINS;
  expect(readSettings({}).CORS_ORIGINS).toEqual([]);
  expect(read("*")).toEqual(["*"]);
  const origins = ["https://app.example.com", "http://localhost:3000", "http://[::1]:8080", "tauri://localhost"];
  expect(read(origins.join(", "))).toEqual(origins);
  for (const wrong of [
    "https://a.example/",
    "https://a.example:443",
    "https://A.example",
    "null",
    "*,https://a.example",
    "https://*.example",
  ])
    expect(() => read(wrong), wrong).toThrow(/^ {2}CORS_ORIGINS must be origins such as /m);
});

test("DATABASE_URL requires MASTER_KEY", () => {
  const DATABASE_URL = "postgres://u:p@db/x";
  expect(() => readSettings({ DATABASE_URL })).toThrow(/MASTER_KEY is required with DATABASE_URL/);
  expect(readSettings({ DATABASE_URL, MASTER_KEY: key }).MASTER_KEY).toBe(key);
});

test("NATS_URL has its user and password in the first address, and no other login in later ones", () => {
  const read = (NATS_URL: string) => () => readSettings({ NATS_URL });
  const wrong = /^ {2}NATS_URL must have user and password in its first address: they apply to all addresses$/m;
  for (const url of ["nats://a,nats://u:hidden@b", "nats://u:p@a,nats://u:hidden@b", "nats://u:p@a, nats://t@b"]) {
    expect(read(url)).toThrow(wrong);
    expect(read(url)).not.toThrow(/hidden/);
  }
  for (const url of ["nats://u:p@a,nats://b", "nats://u:p@a,nats://u:p@b", "nats://t@a:1,nats://t@b"])
    expect(read(url)).not.toThrow();
});

test("OTEL_ settings are read as OpenTelemetry specifies", () => {
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
