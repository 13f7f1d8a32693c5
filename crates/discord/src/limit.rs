//! Discord's limits, obeyed before they bite: a permit for each request, and what the answer says of the next ones.

use std::time::{Duration, Instant};

use fro_http::Answer;
use twilight_http_ratelimiting::{Endpoint, Method, Permit, RateLimitHeaders, RateLimiter};

/// Waits until a route may be asked.
pub(crate) async fn permit(limiter: &RateLimiter, method: Method, path: &str) -> Permit {
    let path = path.split('?').next().unwrap_or(path);
    limiter.acquire(Endpoint { method, path: path.to_owned() }).await
}

/// What an answer says of its bucket.
pub(crate) fn read_limit(answer: &Answer) -> Option<RateLimitHeaders> {
    let reset: f32 = answer.header(RateLimitHeaders::RESET_AFTER)?.parse().ok()?;
    Some(RateLimitHeaders {
        bucket: answer.header(RateLimitHeaders::BUCKET)?.as_bytes().to_vec(),
        limit: answer.header(RateLimitHeaders::LIMIT)?.parse().ok()?,
        remaining: answer.header(RateLimitHeaders::REMAINING)?.parse().ok()?,
        reset_at: Instant::now() + Duration::try_from_secs_f32(reset).ok()?,
    })
}
