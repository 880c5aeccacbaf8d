import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, nullIfMissing, queryAll, queryOne } from "./call.ts";
import { byId } from "./readAll.ts";

/* Projects, model providers, secrets, text recognition, and the person's own password. Secrets are written but never read back. */

interface Dates {
  created_at: string;
  updated_at: string;
}

export interface Project extends Dates {
  id: string;
  name: string;
}

export interface Provider extends Dates {
  name: string;
  base_url: string | null;
  /** Null means the models that the provider lists. */
  models: string[] | null;
  /** Null if it has no models. */
  format: string | null;
  /** Context window in tokens by model; null means the known values. */
  context_windows: Record<string, number> | null;
  /** For a search endpoint. */
  model: string | null;
  dimensions: number | null;
}

interface ProviderSettings extends Pick<Provider, "base_url" | "models" | "format" | "model" | "dimensions"> {
  api_key: string;
  /** As entered. */
  context_windows: Record<string, number | string> | null;
}

export interface Secret extends Dates {
  name: string;
}

const byName = ({ name }: { name: string }): string => name;

export const listProjects = queryOptions({
  queryKey: ["project", "list"],
  queryFn: queryAll<Project>("projects", byId),
});
export const createProject = (name: string) => call<Project>("projects", { method: "POST", body: { name } });
export const renameProject = (id: string, name: string) =>
  call<Project>(itemPath("projects", id), { method: "PATCH", body: { name } });
export const deleteProject = (id: string) => call<void>(itemPath("projects", id), { method: "DELETE" });

/** For administrators. */
export const listProviders = queryOptions({
  queryKey: ["provider", "list"],
  queryFn: queryAll<Provider>("providers", byName),
});
/** Null if there is none of this name. */
export const readProvider = (name: string) => nullIfMissing(call<Provider>(itemPath("providers", name)));
export const configureProvider = (name: string, body: ProviderSettings) =>
  call<Provider>(itemPath("providers", name), { method: "PUT", body });
export const removeProvider = (name: string) => call<void>(itemPath("providers", name), { method: "DELETE" });

/** For builders. */
export const listSecrets = queryOptions({ queryKey: ["secret", "list"], queryFn: queryAll<Secret>("secrets", byName) });
export const setSecret = (name: string, value: string) =>
  call<Secret>(itemPath("secrets", name), { method: "PUT", body: { value } });
export const removeSecret = (name: string) => call<void>(itemPath("secrets", name), { method: "DELETE" });

/** Ends the person's other sessions. */
export const changePassword = (body: { current_password: string; new_password: string }) =>
  call<unknown>("auth/password", { method: "POST", body });

/** Progress of the vectors for semantic search. */
export interface EmbeddingStatus {
  /** Null if search uses words only. */
  model: string | null;
  documents: number;
  embedded: number;
  fault: { message: string; since: string } | null;
}
export const getEmbeddings = queryOptions({
  queryKey: ["provider", "embeddings"],
  queryFn: queryOne<EmbeddingStatus>("embeddings"),
});

export interface OcrSettings {
  /** Null: those of the deployment. */
  languages: string[] | null;
  default_languages: string[];
  installed: string[];
  /** A deployment can turn text recognition off. */
  available: boolean;
}
export const getOcrSettings = queryOptions({
  queryKey: ["organization", "ocr"],
  queryFn: queryOne<OcrSettings>("ocr"),
});
export const setOcrLanguages = (languages: string[] | null) =>
  call<OcrSettings>("ocr", { method: "PUT", body: { languages } });
