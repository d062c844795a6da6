/** Short names of the generated API types. */
import type { components, paths } from "./control-plane.gen";
import type {
  components as gatewayComponents,
  operations as gatewayOperations,
} from "./gateway.gen";

type Schemas = components["schemas"];
type GatewaySchemas = gatewayComponents["schemas"];

export type Loop = Schemas["LoopRecord"];
export type LoopPage = Schemas["LoopPage"];
export type LoopDetail = Schemas["LoopDetail"];
export type LoopStatus = Schemas["LoopStatus"];
export type LoopCommand = Schemas["LoopCommand"];
export type LoopError = Schemas["LoopError"];
export type LoopEvent = Schemas["StoredEvent"];
export type EventRange = Schemas["EventRange"];
export type EventSubject = NonNullable<
  NonNullable<paths["/loops/{id}/events"]["get"]["parameters"]["query"]>["about"]
>;
export type ToolStart = Schemas["ToolStart"];
export type ToolEnd = Schemas["ToolEnd"];
export type Turn = Schemas["Turn"];
export type AssistantRun = Schemas["Run"];
export type Progress = Schemas["ProgressEvent"];
export type EarlyPush = Schemas["EarlyPush"];
export type HeldBackFile = Schemas["HeldBackFile"];
export type ResultEntry = Schemas["ResultEntry"];
export type TestEvidence = Schemas["TestEvidence"];
export type TestFlag = Schemas["TestFlag"];
export type TestRun = Schemas["TestRun"];
export type RepoRef = Schemas["RepoRef"];
export type Document = Schemas["DocumentDetail"];
export type DocumentLink = Schemas["LoopDocument"];
export type DocumentVersion = Schemas["DocumentVersionRecord"];
export type ChangeRequest = Schemas["ChangeRequestRecord"];
export type ChangeRequestDetail = Schemas["ChangeRequestDetail"];
export type PullRequest = ChangeRequestDetail["pullRequests"][number];
export type ReportedStanding = Schemas["ReportedStanding"];
export type ChangeRequestPage = Schemas["ChangeRequestPage"];
export type HistoryEntry = Schemas["HistoryEntry"];
export type SavedView = Schemas["SavedView"];
export type ChangeRequestGroup = Schemas["ChangeRequestGroup"];
export type ChangeState = Schemas["ChangeState"];
export type ChangeStage = Schemas["ChangeStage"];
export type DeploymentState = Schemas["DeploymentState"];
export type Attention = Schemas["Attention"];
export type ChangeReview = Schemas["ChangeReview"];
export type ChangeReviews = Schemas["ChangeReviews"];
export type CommentAnswer = Schemas["CommentAnswer"];
export type CommentDraft = Schemas["CommentDraft"];
export type CommentPlace = Schemas["CommentPlace"];
export type CommentSide = Schemas["CommentSide"];
export type ReviewSubmission = Schemas["ReviewSubmission"];
export type SubmittedComment = Schemas["SubmittedComment"];
export type ComputeTarget = Schemas["ComputeTarget"];
export type Me = Schemas["Me"];
export type Agent = Schemas["Data_AgentDetail"]["data"];
export type UndeliveredWork = Schemas["UndeliveredWork"];
export type Usage = Schemas["Usage"];
export type Member = Schemas["Member"];
export type Role = Schemas["Role"];
export type ApiKeyScope = Schemas["Scope"];
export type ApiKey = Schemas["ApiKeyRecord"];
export type AuditAction = Schemas["AuditAction"];
export type AuditEntry = Schemas["AuditEntry"];
export type OrganizationSettings = Schemas["OrganizationSettings"];
export type Ticket = Schemas["TicketRecord"];
export type RunLoopBody = Schemas["RunLoop"];
export type LaunchPreview = Schemas["LaunchPreview"];
export type SignedLaunch = Schemas["SignedLaunch"];
/** Check of a machine as a desktop has stored it: `debug` is a text. */
export type StoredCheck = Schemas["HealthCheckEntry"];

/**
 * Answer of an operation of the gateway. The types of the gateway are generated for the operations that are named this
 * way: see scripts/generate-types.mjs.
 */
export type GatewayAnswer<Name extends keyof gatewayOperations> = gatewayOperations[Name] extends {
  responses: { 200: { content: infer Content } };
}
  ? Content[keyof Content]
  : never;

export type GatewayHealth = GatewayAnswer<"health">;
export type GatewaySession = GatewayAnswer<"gateway_auth_exchange">;
export type RepositoryPreview = GatewaySchemas["RepositoryPreview"];
export type LoopStartPreview = GatewaySchemas["LoopStartPreview"];
export type GatewayCheck = GatewaySchemas["Check"];
export type ListedRepo = GatewaySchemas["ListedRepo"];
export type LearnedPattern = GatewaySchemas["LearnedPattern"];
export type LearningDecision = GatewaySchemas["LearningDecisionRequest"];
export type WaitingRequest = GatewaySchemas["WaitingRequest"];
export type LoopChanges = GatewaySchemas["LoopChanges"];
export type RepositoryChanges = GatewaySchemas["RepositoryChanges"];
export type ChangedFile = GatewaySchemas["ListedFile"];
export type PatchesRequest = GatewaySchemas["PatchesRequest"];
export type NewPullRequestReview = GatewaySchemas["NewPullRequestReview"];
export type LocatedLine = GatewaySchemas["LocatedLine"];
export type RequestedLine = GatewaySchemas["RequestedLine"];
export type PullRequestStanding = GatewaySchemas["PullRequestStanding"];
export type PullRequestCheck = GatewaySchemas["PullRequestCheck"];
export type MergeMethod = GatewaySchemas["MergeMethod"];
export type MergeObstacle = GatewaySchemas["MergeObstacle"];
export type PullRequestConversation = GatewaySchemas["PullRequestComments"];
export type PostedComment = GatewaySchemas["PullRequestComment"];
export type PullRequestReply = GatewaySchemas["ReplyToPullRequest"];
export type MergeRequest = GatewaySchemas["MergePullRequest"];
export type BranchUpdate = GatewaySchemas["DisplayedPullRequest"];
export type LoopPatches = GatewaySchemas["LoopPatches"];
export type DeployStatus = GatewaySchemas["DeployStatus"];
export type DetectedDeployment = GatewaySchemas["Detected"];
export type ChatEvent = GatewaySchemas["ChatEvent"];
export type ChatMessage = GatewaySchemas["ChatMessage"];
export type DebateOutcome = GatewaySchemas["DebateOutcome"];
export type FindingContext = GatewaySchemas["FindingContext"];
export type ReviewAnswer = GatewaySchemas["ReviewAnswer"];
export type ReviewFinding = GatewaySchemas["ReviewFinding"];
export type Verdict = GatewaySchemas["Verdict"];
