import { GoogleGenAI } from "@google/genai";
import type { Credential } from "#services/turns/model.ts";
import { withoutVersion } from "../providerAddress.ts";

const VERSION = "v1beta";
const DEFAULT_ADDRESS = "https://generativelanguage.googleapis.com";

/** A client that reads nothing from the environment and never retries. */
export const openClient = ({ api_key, base_url }: Credential, fetch: typeof globalThis.fetch): GoogleGenAI =>
  new GoogleGenAI({
    vertexai: false,
    apiKey: api_key,
    apiVersion: VERSION,
    httpOptions: { baseUrl: base_url === null ? DEFAULT_ADDRESS : withoutVersion(base_url, VERSION), fetch },
  });
