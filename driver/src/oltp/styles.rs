//! The choice between the two styles, made for each transaction of a conversation with a server.

/// Implements [`super::engine::Conversation`] for a type with the fields `connection`, `style` and
/// `scratch`, in a module that has a function for each transaction in its modules `statements` and
/// `procedures`. A macro, because the connections of two protocols have no type in common.
macro_rules! both_styles {
    ($conversation:ty) => {
        impl $conversation {
            async fn settle(&mut self, result: Result<Ending, Error>) -> Result<Ending, Failure> {
                match result {
                    Ok(ending) => Ok(ending),
                    Err(error) => Err(self.connection.fail(error).await),
                }
            }
        }

        impl Conversation for $conversation {
            async fn new_order(&mut self, order: &NewOrder) -> Result<Ending, Failure> {
                let (connection, scratch) = (&mut self.connection, &mut self.scratch);
                let result = match self.style {
                    Style::Statements => statements::new_order(connection, scratch, order).await,
                    Style::Procedures => procedures::new_order(connection, order).await,
                };
                self.settle(result).await
            }

            async fn payment(&mut self, payment: &Payment) -> Result<Ending, Failure> {
                let result = match self.style {
                    Style::Statements => statements::payment(&mut self.connection, payment).await,
                    Style::Procedures => procedures::payment(&mut self.connection, payment).await,
                };
                self.settle(result).await
            }

            async fn order_status(&mut self, status: &OrderStatus) -> Result<Ending, Failure> {
                let connection = &mut self.connection;
                let result = match self.style {
                    Style::Statements => statements::order_status(connection, status).await,
                    Style::Procedures => procedures::order_status(connection, status).await,
                };
                self.settle(result).await
            }

            async fn delivery(&mut self, delivery: &Delivery) -> Result<Ending, Failure> {
                let connection = &mut self.connection;
                let result = match self.style {
                    Style::Statements => statements::delivery(connection, delivery).await,
                    Style::Procedures => procedures::delivery(connection, delivery).await,
                };
                self.settle(result).await
            }

            async fn stock_level(&mut self, level: &StockLevel) -> Result<Ending, Failure> {
                let connection = &mut self.connection;
                let result = match self.style {
                    Style::Statements => statements::stock_level(connection, level).await,
                    Style::Procedures => procedures::stock_level(connection, level).await,
                };
                self.settle(result).await
            }

            async fn close(&mut self) {
                self.connection.close().await;
            }
        }
    };
}

pub(super) use both_styles;
