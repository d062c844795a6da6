import { GatewayError } from "@/gateway/local-gateway";

/** Explains why the list of repositories could not be loaded, and what to do. */
export function gatewayAdvice(error: unknown): { title: string; text: string } {
  if (error instanceof GatewayError && error.problem === "absent") {
    return {
      title: "No gateway found on this machine",
      text: "Run `loopgate up` here to choose from your repositories, or enter owner/repository.",
    };
  }
  if (error instanceof GatewayError && error.problem === "refused") {
    return {
      title: "The gateway on this machine belongs to another account",
      text: `It rejected the request: “${error.message}”. Restart Loopgate to pair it with this account, or enter owner/repository.`,
    };
  }
  return {
    title: "Cannot load repositories",
    text: `${error instanceof Error ? error.message : "The gateway returned an error."} You can still enter owner/repository.`,
  };
}
