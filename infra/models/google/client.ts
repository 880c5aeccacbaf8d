import { GoogleGenAI } from "@google/genai";
import type { Credential } from "#services/turns/model.ts";
import { withoutVersion } from "../provider.ts";

const VERSION = "v1beta";
const OWN_ADDRESS = "https://generativelanguage.googleapis.com";

/** A client that takes nothing from the environment and never retries. */
export const openClient = ({ api_key, base_url }: Credential, fetch: typeof globalThis.fetch): GoogleGenAI =>
  new GoogleGenAI({
    vertexai: false,
    apiKey: api_key,
    apiVersion: VERSION,
    httpOptions: { baseUrl: base_url === null ? OWN_ADDRESS : withoutVersion(base_url, VERSION), fetch },
  });
