CREATE INDEX "billing_events_by_age" ON "billing_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "oauth_states_by_age" ON "oauth_states" USING btree ("expires_at");