import { isObject } from "./json.ts";

/** The data that a person fills into a form, with the form's `default` values for missing top-level fields. */
export function withFormDefaults(form: Record<string, unknown> | null, data: unknown): unknown {
  const { properties } = form ?? {};
  if (!isObject(properties) || !(data === undefined || data === null || isObject(data))) return data;
  const missing = Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) && Object.hasOwn(field, "default") && !(data && Object.hasOwn(data, name))
      ? [[name, field["default"]] as const]
      : [],
  );
  return missing.length === 0 ? data : { ...data, ...Object.fromEntries(missing) };
}
