import type { z } from "zod";

/* Messages in the API's words that say what would be right, for schemas that have none. zod's own messages speak of records and ints. */

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  record: "an object",
};

type Issue = z.core.$ZodRawIssue;
type Bound = { inclusive?: boolean | undefined; origin: string };

const oneOf = (values: readonly unknown[]): string =>
  `must be ${values.length > 1 ? "one of " : ""}${values.map((value) => JSON.stringify(value)).join(", ")}`;

/** `side` and `beyond` word the limit: "at most" and "less than", or "at least" and "more than". */
function explainLimit(
  limit: number | bigint,
  { inclusive = true, origin }: Bound,
  side: string,
  beyond: string,
): string {
  if (origin === "string") return `must have ${limit} characters ${side}`;
  if (origin === "array" || origin === "set") return `must have ${limit} items ${side}`;
  return `must be ${inclusive ? side : beyond} ${limit}`;
}

function explainFormat(format: string): string | undefined {
  if (format === "uuid") return "must be a UUID";
  return format === "datetime" ? "must be a time such as 2027-01-31T09:00:00Z" : undefined;
}

/** Lists what each form of a union asks for: `must be "always" or an object`. */
function explainUnion(forms: z.core.$ZodIssue[][]): string | undefined {
  const reasons = forms.flatMap(([first]) => {
    if (!first) return [];
    return first.path.length > 0 ? `${first.path.join(".")} ${first.message}` : first.message;
  });
  const [first, ...others] = new Set(reasons);
  return first && [first, ...others.map((reason) => reason.replace(/^must be /, ""))].join(" or ");
}

/** The message for an issue whose schema has none. Undefined: zod's own message is used. */
export function explainIssue(issue: Issue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return KINDS[issue.expected] && `must be ${KINDS[issue.expected]}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "too_big":
      return explainLimit(issue.maximum, issue, "at most", "less than");
    case "too_small":
      if (issue.minimum === 1 && issue.origin !== "number" && issue.origin !== "int") return "must not be empty";
      return explainLimit(issue.minimum, issue, "at least", "more than");
    case "invalid_union":
      return issue.options ? oneOf(issue.options as unknown[]) : explainUnion(issue.errors);
    case "invalid_format":
      return explainFormat(issue.format);
    default:
      return undefined;
  }
}
