import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError, isFinal } from "../api/call.ts";
import { getSession } from "../api/queries.ts";
import { SignInForm } from "../screens/signIn/SignIn.tsx";

const RETRY_MS = 3_000;

/** Shown above the page, so that typed text is still there after signing in again. */
function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // a dialog that is removed does not give the focus back
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
      // browsers close it at the second Esc even so
      onClose={() => dialog.current?.showModal()}
    >
      <SignInForm>
        <h2 id="sign-in-again">Your session has ended</h2>
        <p>Sign in again to go on. What you typed on this page is kept.</p>
      </SignInForm>
    </dialog>
  );
}

/** Shows why an open page does not work: the service does not answer, or the session has ended. */
export function Interruption() {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    ...getSession,
    refetchInterval: ({ state }) => (state.error && !isFinal(state.error) ? RETRY_MS : false),
  });
  const person = data?.user.id;
  const known = useRef(person);
  const isInterrupted = error !== null;
  const wasInterrupted = useRef(false);
  useEffect(() => {
    if (known.current === person) return;
    // another person signed in, so nothing of the first person may stay on the page or among the drafts
    sessionStorage.clear();
    location.reload();
  }, [person]);
  useEffect(() => {
    // failed and changed data is read again
    if (wasInterrupted.current && !isInterrupted) void queries.invalidateQueries();
    wasInterrupted.current = isInterrupted;
  }, [isInterrupted, queries]);
  if (error instanceof ApiError && error.status === 401) return <SignInAgain />;
  if (!isInterrupted) return null;
  return (
    <p role="alert" className="notice bad interruption">
      <span>
        <strong>The connection to the service is lost.</strong> What you see may be out of date. The page keeps trying,
        and what you typed stays.
      </span>
    </p>
  );
}
