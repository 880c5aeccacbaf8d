import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, type ReactNode } from "react";
import { ApiError, call } from "../../api/call.ts";
import { getSession } from "../../api/queries.ts";
import { formText } from "../../parts/formText.ts";
import { FormField } from "../../parts/FormField.tsx";
import { FocusableButton } from "../../parts/FocusableButton.tsx";
import { Loading } from "../../parts/Notices.tsx";
import { useCheckedForm } from "../../parts/useCheckedForm.tsx";
import "./signIn.css";

/** The code of the link that `npm start` prints. It is removed from the address, because browsers keep addresses in their history. */
function takeStartCode(): string | undefined {
  const code = /^#start=([\w-]+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

let startCode = takeStartCode();

type Credentials = { code: string } | { email: string; password: string; organization?: string };

function readCredentials(form: FormData): Credentials {
  const organization = formText(form, "organization").trim();
  return {
    email: formText(form, "email"),
    password: formText(form, "password"),
    ...(organization !== "" && { organization }),
  };
}

/** The refusal does not say which of the two is wrong. Mostly it is the password. */
const wrongFieldOf = (error: unknown): string | undefined =>
  error instanceof ApiError && error.code === "invalid_credentials" ? "password" : undefined;

/** One address may belong to members of several organizations, also with the same password. */
const OrganizationField = () => (
  <details>
    <summary>Are you a member of several organizations?</summary>
    <FormField label="Organization" note="its id, which Settings shows">
      <input name="organization" autoComplete="off" spellCheck={false} />
    </FormField>
  </details>
);

/** E-mail address and password, below a heading. */
export function SignInForm({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const signIn = useMutation({
    mutationFn: (credentials: Credentials) =>
      "code" in credentials
        ? call("auth/start", { method: "POST", body: credentials })
        : call("auth/login", { method: "POST", body: { ...credentials, cookie: true } }),
    onSuccess: () => queries.refetchQueries(getSession),
  });
  const { mutate } = signIn;
  useEffect(() => {
    const code = startCode;
    // the code works once
    startCode = undefined;
    if (code) mutate({ code });
  }, [mutate]);

  const { props, notice } = useCheckedForm({
    error: signIn.error,
    wrongField: wrongFieldOf(signIn.error),
    onSend: (form) => mutate(readCredentials(form)),
  });
  return (
    <form {...props} className="card sign-in">
      {children}
      {notice}
      {signIn.isPending && <Loading what="your session" />}
      <FormField label="E-mail">
        <input name="email" type="email" autoComplete="username" required />
      </FormField>
      <FormField label="Password">
        <input name="password" type="password" autoComplete="current-password" required />
      </FormField>
      <OrganizationField />
      <FocusableButton type="submit" className="button primary" isOff={signIn.isPending}>
        Sign in
      </FocusableButton>
      <p className="quiet">
        On the machine that runs the service: <code>npm start</code> prints a link that signs you in, and the first
        password is in <code>.data/credentials.json</code>.
      </p>
    </form>
  );
}

export const SignIn = () => (
  <main className="alone">
    <SignInForm>
      <h1>Sign in</h1>
    </SignInForm>
  </main>
);
